'''
title = "elu writes into the caller's tensors"
killed_by = "inputs-unchanged"
explanation = """
inplace=True, or elu_, changes q and k themselves. The next layer, or the next call, gets \
features where it expects inputs."""
hint = """
Keep a copy of q, call the function, and compare."""
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.elu(q, inplace=True) + 1
    keys = torch.nn.functional.elu(k, inplace=True) + 1
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
