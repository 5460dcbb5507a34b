'''
title = "The 1 is added inside: elu(x + 1)"
killed_by = "features"
explanation = """
The contract's φ is elu(x) + 1, whose smallest value is 0. elu(x + 1) is shifted along the other \
axis and goes down to −1."""
hint = """
Evaluate your φ at x = −20."""
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.elu(q + 1)
    keys = torch.nn.functional.elu(k + 1)
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
