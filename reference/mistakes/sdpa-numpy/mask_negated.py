'''
title = "The mask is negated as a number, which booleans refuse"
killed_by = "mask-dtypes"
explanation = """
−mask · 1e9 works for numbers. NumPy has no negative of a boolean and raises."""
hint = "Try -np.array([True, False])."
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
        scores = scores + -np.broadcast_to(mask, scores.shape) * scores.dtype.type(1e9)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(shifted)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ v, weights
