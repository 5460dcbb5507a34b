'''
title = "The denominator holds the keys alone, not the query"
killed_by = "normalised"
explanation = """
The sum of the weights of query i is φ(qᵢ) · Σ φ(kⱼ). It differs from query to query."""
hint = """
Write down the sum of the weights φ(qᵢ) · φ(kⱼ) over j and pull out what does not depend on j."""
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
        sums = keys.cumsum(dim=2)
    else:
        state = torch.einsum("bhld,bhle->bhde", keys, v)
        numerator = torch.einsum("bhld,bhde->bhle", queries, state)
        sums = keys.sum(dim=2, keepdim=True)
    denominator = sums.sum(dim=-1, keepdim=True)
    return numerator / denominator
