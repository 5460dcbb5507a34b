'''
title = "The scale is written D ** 1 / 2, which is D halved"
killed_by = "scale"
explanation = """
`**` binds tighter than `/`, so D ** 1 / 2 is (D ** 1) / 2 and not the square root of D."""
hint = "Print the divisor for D = 64."
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
    scores = q @ k.transpose(-2, -1) / (q.shape[-1] ** 1 / 2)
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
