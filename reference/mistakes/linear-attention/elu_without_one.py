'''
title = "φ is elu alone: the 1 is missing"
killed_by = "features"
explanation = """
elu goes down to −1, so weights can be negative and a row's sum can come near 0. Adding 1 makes \
every feature positive."""
hint = """
What is the smallest number that your φ gives? May a weight be negative?"""
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.elu(q)
    keys = torch.nn.functional.elu(k)
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
