'''
title = "`causal` is accepted and never used"
killed_by = "causal"
explanation = """
Every position sees the whole sequence, whatever is asked for."""
hint = """
What is the first output of the causal form?"""
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.elu(q) + 1
    keys = torch.nn.functional.elu(k) + 1
    state = torch.einsum("bhld,bhle->bhde", keys, v)
    numerator = torch.einsum("bhld,bhde->bhle", queries, state)
    sums = keys.sum(dim=2, keepdim=True)
    denominator = (queries * sums).sum(dim=-1, keepdim=True)
    return numerator / denominator
