'''
title = "The sum of φ(k) vᵀ is transposed"
killed_by = "values"
explanation = """
vᵀ and φ(k) have changed places: the query is multiplied with the values' axis of the state. Both \
axes have the size D, so the shapes fit."""
hint = """
Which axis of the state belongs to the keys, and which one does φ(q) have to meet?"""
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.elu(q) + 1
    keys = torch.nn.functional.elu(k) + 1
    if causal:
        states = torch.einsum("bhld,bhle->bhlde", keys, v).cumsum(dim=2)
        numerator = torch.einsum("bhld,bhlde->bhle", queries, states.mT)
        sums = keys.cumsum(dim=2)
    else:
        state = torch.einsum("bhld,bhle->bhde", keys, v)
        numerator = torch.einsum("bhld,bhde->bhle", queries, state.mT)
        sums = keys.sum(dim=2, keepdim=True)
    denominator = (queries * sums).sum(dim=-1, keepdim=True)
    return numerator / denominator
