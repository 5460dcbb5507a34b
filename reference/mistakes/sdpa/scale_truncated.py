'''
title = "√D is cut to a whole number"
killed_by = "scale"
explanation = """
The root is rounded down to an integer, so the scale is right for D = 16 or 64 and wrong for \
every D that is no square."""
hint = "Print the divisor for D = 8."
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
    scores = q @ k.transpose(-2, -1) / int(math.sqrt(q.shape[-1]))
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
