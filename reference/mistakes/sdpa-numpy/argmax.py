'''
title = "Each query takes the value of its best key alone"
killed_by = "weights"
explanation = """
The largest score gets weight 1 and every other 0, which is the limit of very large scores."""
hint = "Two keys with nearly the same score: how much weight should the second get?"
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
        scores = np.where(blocked, -math.inf, scores)
    weights = np.eye(scores.shape[-1], dtype=q.dtype)[scores.argmax(-1)]
    return weights @ v, weights
