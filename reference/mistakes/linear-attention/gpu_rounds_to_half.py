'''
title = "On a GPU the inputs are rounded to half precision"
killed_by = "gpu-float32"
explanation = """
Half precision is faster on a GPU and has three digits. A caller who passes float32 asked for \
seven."""
hint = "In which dtype does the caller want the answer to be right?"
device = "cuda"
by_chance = true
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError(
            f"q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} must have one shape"
        )
    q, k, v = (x.half().to(x.dtype) if x.is_cuda else x for x in (q, k, v))
    queries = torch.nn.functional.elu(q) + 1
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
