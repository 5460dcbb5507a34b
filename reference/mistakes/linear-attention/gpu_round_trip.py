'''
title = "Part of the work is done on the CPU"
killed_by = "gpu-device"
explanation = """
The numbers are right, but they travel to the CPU and back: the GPU waits, and the CPU does its \
work."""
hint = "Which line leaves the device of the input, and what for?"
device = "cuda"
by_check = true
says = "numbers to the CPU"
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError(
            f"q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} must have one shape"
        )
    queries = (torch.nn.functional.elu(q.cpu()) + 1).to(q.device)
    keys = torch.nn.functional.elu(k) + 1
    if causal:
        states = torch.einsum("bhld,bhle->bhlde", keys, v).cumsum(dim=2)
        numerator = torch.einsum("bhld,bhlde->bhle", queries, states)
        sums = keys.cumsum(dim=2)
    else:
        state = torch.einsum("bhld,bhle->bhde", keys, v)
        numerator = torch.einsum("bhld,bhde->bhle", queries, state)
        sums = keys.sum(dim=2, keepdim=True)
    denominator = (queries * sums).sum(dim=-1, keepdim=True)
    return numerator / denominator
