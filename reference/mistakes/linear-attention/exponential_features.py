'''
title = "φ is the exponential"
killed_by = "features"
explanation = """
exp x is what elu(x) + 1 is below zero. Above zero it must be x + 1, which does not overflow. It \
is not softmax attention either: exp(q) · exp(k) is not exp(q · k)."""
hint = """
Evaluate your φ at x = 3."""
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.exp(q)
    keys = torch.exp(k)
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
