'''
title = "The state of one call is still there in the next"
killed_by = "repeatable"
explanation = """
The sums live outside the function and are never emptied, so every answer holds the keys of \
earlier calls."""
hint = """
Call it twice with the same tensors."""
# what it answers depends on every call before
by_chance = true
'''

import torch

KEPT = {}


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.elu(q) + 1
    keys = torch.nn.functional.elu(k) + 1
    if causal:
        states = torch.einsum("bhld,bhle->bhlde", keys, v).cumsum(dim=2)
        numerator = torch.einsum("bhld,bhlde->bhle", queries, states)
        sums = keys.cumsum(dim=2)
    else:
        state = torch.einsum("bhld,bhle->bhde", keys, v)
        state = KEPT.setdefault(q.shape, state)
        numerator = torch.einsum("bhld,bhde->bhle", queries, state)
        sums = keys.sum(dim=2, keepdim=True)
    denominator = (queries * sums).sum(dim=-1, keepdim=True)
    return numerator / denominator
