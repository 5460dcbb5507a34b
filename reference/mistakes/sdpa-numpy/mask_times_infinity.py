'''
title = "The mask is multiplied by −∞, and 0 · ∞ is NaN"
killed_by = "mask"
explanation = """
Where the mask is 0 the product with −∞ is NaN, and NaN spreads over the row. A large finite \
number such as −1e9 can be multiplied, −∞ has to be chosen with np.where."""
hint = "Print np.array([0.0, 1.0]) * -np.inf."
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
        blocked = np.broadcast_to(mask, scores.shape) != 0
        scores = scores + blocked * scores.dtype.type(-np.inf)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(shifted)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ v, weights
