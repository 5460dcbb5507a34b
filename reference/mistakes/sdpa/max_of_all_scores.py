'''
title = "One maximum is subtracted from all rows together"
killed_by = "large-logits"
explanation = """
The largest score of the whole tensor is subtracted. A row whose own scores all lie far below it \
underflows to 0 / 0."""
hint = """
Two queries, one with scores near 0 and one with scores near 1000: what do the exponentials of \
the first become?"""
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
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.exp(scores - scores.max())
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ v, weights
