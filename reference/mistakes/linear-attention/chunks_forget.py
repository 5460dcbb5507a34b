'''
title = "Causal: each chunk begins with empty sums"
killed_by = "long-sequences"
explanation = """
The sequence is cut into chunks and no state is carried from one to the next, so positions see \
only their own chunk."""
hint = """
What has position 64 to know of the positions 0 to 63?"""
[variants]
replace = "split(64, 2)"
by = ["split(16, 2)", "split(32, 2)", "split(128, 2)", "split(256, 2)"]
'''

import torch


def linear_attention(q, k, v, causal=False):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    queries = torch.nn.functional.elu(q) + 1
    keys = torch.nn.functional.elu(k) + 1
    if causal:
        products = torch.einsum("bhld,bhle->bhlde", keys, v)
        states = torch.cat([part.cumsum(dim=2) for part in products.split(64, 2)], dim=2)
        numerator = torch.einsum("bhld,bhlde->bhle", queries, states)
        sums = torch.cat([part.cumsum(dim=2) for part in keys.split(64, 2)], dim=2)
    else:
        state = torch.einsum("bhld,bhle->bhde", keys, v)
        numerator = torch.einsum("bhld,bhde->bhle", queries, state)
        sums = keys.sum(dim=2, keepdim=True)
    denominator = (queries * sums).sum(dim=-1, keepdim=True)
    return numerator / denominator
