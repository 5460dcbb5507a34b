'''
title = "Four axes are unpacked, which fits 4-D input alone"
killed_by = "leading-dimensions"
explanation = """
The shape is unpacked into four names, so any other number of axes raises. The last two axes can \
be reached from the back, whatever stands before them."""
hint = "Call it with q, k and v of two dimensions."
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
    _, _, _, width = q.shape
    scores = q @ k.transpose(-2, -1) / math.sqrt(width)
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
