'''
title = "Only masks of booleans work"
killed_by = "mask"
explanation = """
~ turns True into False, but 1 into −2 and 0 into −1, which both count as true; on floats it \
raises. The contract's masks may hold numbers."""
hint = "Print ~np.array([0, 1]), and ~np.array([0.0, 1.0])."
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
        scores = np.where(~np.broadcast_to(mask, scores.shape), scores, -math.inf)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(shifted)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ v, weights
