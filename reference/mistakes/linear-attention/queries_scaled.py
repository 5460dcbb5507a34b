'''
title = "The queries are divided by √D first, as for a softmax"
killed_by = "values"
explanation = """
There is no softmax that could saturate, and φ(q / √D) is not φ(q) / √D. The contract has no \
scale."""
hint = """
Where does √D stand in the contract's formula?"""
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.elu(q / q.shape[-1] ** 0.5) + 1
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
    return numerator / denominator
