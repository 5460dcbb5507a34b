'''
title = "The keys are reshaped to (D, S) where they should be transposed"
killed_by = "values"
explanation = """
reshape keeps the order in memory and cuts it differently, so features of different keys get \
mixed. The shape is right and the numbers are not."""
hint = "Write k of 2 keys and 3 features down, and compare k.reshape(3, 2) with k.T."
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

    scores = q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2]) / math.sqrt(q.shape[-1])
    if mask is not None:
        blocked = np.broadcast_to(mask, scores.shape) != 0
        scores = np.where(blocked, -math.inf, scores)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(shifted)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ v, weights
