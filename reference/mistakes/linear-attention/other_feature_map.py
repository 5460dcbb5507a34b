'''
title = "Another function stands in the place of elu + 1"
killed_by = "features"
explanation = """
Any positive φ gives a linear attention, and each gives another one. relu, besides, is 0 below \
zero, so a row may have no weight at all."""
hint = """
Compare your φ with elu(x) + 1 at x = −1, 0 and 1."""
[variants]
replace = "functional.relu"
by = [
    "functional.softplus", "functional.sigmoid", "functional.gelu", "functional.silu",
    "functional.leaky_relu", "functional.selu",
]
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.relu(q)
    keys = torch.nn.functional.relu(k)
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
