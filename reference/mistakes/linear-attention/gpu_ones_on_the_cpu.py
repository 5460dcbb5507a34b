'''
title = "The ones of the feature map are made on the CPU"
killed_by = "gpu-device"
explanation = """
On a CPU nothing shows. On a GPU torch refuses to mix the tensor, which lies in the CPU's \
memory, with the others, which lie in the GPU's."""
hint = "A plain 1 belongs to no device. To which does torch.ones?"
device = "cuda"
by_check = true
says = "makes a tensor on the CPU"
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError(
            f"q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} must have one shape"
        )
    queries = torch.nn.functional.elu(q) + torch.ones(q.shape[-1], dtype=q.dtype)
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
