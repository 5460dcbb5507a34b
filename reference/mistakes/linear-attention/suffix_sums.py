'''
title = "Causal: the sums run over the future"
killed_by = "causal"
explanation = """
The sums are taken from the end, so position i attends to i and to all that follow."""
hint = """
Which output depends on one key alone, the first or the last?"""
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.elu(q) + 1
    keys = torch.nn.functional.elu(k) + 1
    if causal:
        states = torch.einsum("bhld,bhle->bhlde", keys, v).flip(2).cumsum(dim=2).flip(2)
        numerator = torch.einsum("bhld,bhlde->bhle", queries, states)
        sums = keys.flip(2).cumsum(dim=2).flip(2)
    else:
        state = torch.einsum("bhld,bhle->bhde", keys, v)
        numerator = torch.einsum("bhld,bhde->bhle", queries, state)
        sums = keys.sum(dim=2, keepdim=True)
    denominator = (queries * sums).sum(dim=-1, keepdim=True)
    return numerator / denominator
