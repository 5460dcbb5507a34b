'''
title = "A constant in the denominator is large enough to show"
killed_by = "values"
explanation = """
Something is added to the denominator against a division by 0. φ is positive, so at most 1e-6 is \
needed; with more, the weights no longer sum to 1."""
hint = """
How large is the denominator for a sequence of one position?"""
[variants]
replace = "+ 1.0"
by = ["+ 0.1", "+ 1e-2", "+ 1e-3", "+ 1e-4"]
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
    denominator = (queries * sums).sum(dim=-1, keepdim=True)
    return numerator / (denominator + 1.0)
