'''
title = "view on the inputs wants contiguous memory"
killed_by = "non-contiguous"
explanation = """
Batch and heads are folded with view, which raises where the input was transposed before, as it \
is after splitting heads."""
hint = """
Which function does what view does, and copies where it has to?"""
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    q, k, v = (x.view(1, -1, *x.shape[2:]).view(x.shape) for x in (q, k, v))
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
