'''
title = "Causal: a position does not see itself"
killed_by = "causal"
explanation = """
The output is read before the position's own key and value are added. The first position then has \
nothing to attend to: 0 / 0."""
hint = """
Which keys does the first position see?"""
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.elu(q) + 1
    keys = torch.nn.functional.elu(k) + 1
    if causal:
        products = torch.einsum("bhld,bhle->bhlde", keys, v)
        states = products.cumsum(dim=2) - products
        numerator = torch.einsum("bhld,bhlde->bhle", queries, states)
        sums = keys.cumsum(dim=2) - keys
    else:
        state = torch.einsum("bhld,bhle->bhde", keys, v)
        numerator = torch.einsum("bhld,bhde->bhle", queries, state)
        sums = keys.sum(dim=2, keepdim=True)
    denominator = (queries * sums).sum(dim=-1, keepdim=True)
    return numerator / denominator
