'''
title = "Queries and keys of different width are cut to fit"
killed_by = "bad-widths"
explanation = """
Input that cannot be right gets an answer. A mismatch of widths is a bug of the caller, who \
should hear of it."""
hint = """
What should the caller learn who passes keys of another layer by mistake?"""
'''

import torch


def linear_attention(q, k, v, causal=False):
    width = min(q.shape[-1], k.shape[-1])
    q, k = q[..., :width], k[..., :width]
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
    return numerator / denominator
