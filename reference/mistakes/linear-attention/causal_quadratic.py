'''
title = "The causal form computes all L² weights"
killed_by = "causal-work"
explanation = """
Without `causal` the sums come first, but the causal form masks L × L weights. Its sums can be \
carried along as well: position i adds one key to what position i − 1 has."""
hint = """
What does the sum of position i have in common with that of position i − 1?"""
by_check = true
says = "operations in products"
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.elu(q) + 1
    keys = torch.nn.functional.elu(k) + 1
    if causal:
        weights = (queries @ keys.transpose(-2, -1)).tril()
        numerator = weights @ v
        sums = keys.cumsum(dim=2)
    else:
        state = torch.einsum("bhld,bhle->bhde", keys, v)
        numerator = torch.einsum("bhld,bhde->bhle", queries, state)
        sums = keys.sum(dim=2, keepdim=True)
    denominator = (queries * sums).sum(dim=-1, keepdim=True)
    return numerator / denominator
