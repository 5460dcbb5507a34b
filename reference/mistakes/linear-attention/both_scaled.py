'''
title = "Queries and keys are both scaled by a root of D first"
killed_by = "values"
explanation = """
A factor of D to the power of −1/4 on both sides is what some softmax and kernel methods need. \
The contract has no scale."""
hint = """
Where does D stand in the contract's formula?"""
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.elu(q / q.shape[-1] ** 0.25) + 1
    keys = torch.nn.functional.elu(k / k.shape[-1] ** 0.25) + 1
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
