'''
title = "A mask (L, S) always gets axes for batch and heads"
killed_by = "mask-leading-dimensions"
explanation = """
mask[None, None] makes four axes of two. With inputs of two or three dimensions scores and output \
then have four. A mask (L, S) broadcasts as it is."""
hint = "Call it with q, k and v of two dimensions and a mask, and print the shape of the output."
'''

import math

import numpy as np


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k differ in width")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("k and v differ in length")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError("leading dimensions differ")

    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        mask = mask[None, None] if mask.ndim == 2 else mask
        blocked = mask != 0
        scores = np.where(blocked, -math.inf, scores)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(shifted)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ v, weights
