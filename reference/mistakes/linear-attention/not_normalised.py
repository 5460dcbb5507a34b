'''
title = "The weights are not divided by their sum"
killed_by = "normalised"
explanation = """
φ(q) times the sum of φ(k) vᵀ is the numerator alone. Without the denominator the output grows \
with the number of keys."""
hint = """
If every value is 1, what must every output be?"""
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.elu(q) + 1
    keys = torch.nn.functional.elu(k) + 1
    if causal:
        states = torch.einsum("bhld,bhle->bhlde", keys, v).cumsum(dim=2)
        numerator = torch.einsum("bhld,bhlde->bhle", queries, states)
    else:
        state = torch.einsum("bhld,bhle->bhde", keys, v)
        numerator = torch.einsum("bhld,bhde->bhle", queries, state)
    return numerator
