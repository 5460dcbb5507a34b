'''
title = "The causal form is returned, asked for or not"
killed_by = "values"
explanation = """
Without `causal` every position attends to all, also to those that follow."""
hint = """
Change the last value. Should the first output change?"""
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.elu(q) + 1
    keys = torch.nn.functional.elu(k) + 1
    states = torch.einsum("bhld,bhle->bhlde", keys, v).cumsum(dim=2)
    numerator = torch.einsum("bhld,bhlde->bhle", queries, states)
    sums = keys.cumsum(dim=2)
    denominator = (queries * sums).sum(dim=-1, keepdim=True)
    return numerator / denominator
