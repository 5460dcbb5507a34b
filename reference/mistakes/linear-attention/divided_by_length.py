'''
title = "The sum is divided by the number of keys, not by the weights"
killed_by = "normalised"
explanation = """
A mean over the positions makes the size independent of L, but the weights still do not sum to 1."""
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
        sums = torch.arange(1, q.shape[2] + 1, device=q.device).to(q.dtype).unsqueeze(-1)
    else:
        state = torch.einsum("bhld,bhle->bhde", keys, v)
        numerator = torch.einsum("bhld,bhde->bhle", queries, state)
        sums = q.shape[2]
    return numerator / sums
