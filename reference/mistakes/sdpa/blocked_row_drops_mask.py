'''
title = "One blocked row gives up the whole mask"
killed_by = "blocked-row-stays-alone"
explanation = """
When some query may attend to nothing, the mask is dropped for every query, to avoid NaN. The \
other rows then see keys that are blocked for them."""
hint = "Which rows does a blocked row concern?"
'''

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k differ in width")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("k and v differ in length")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError("leading dimensions differ")
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None and (mask != 0).any(-1).all():
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
