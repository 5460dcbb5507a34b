'''
title = "The caller's queries are scaled in place"
killed_by = "inputs-unchanged"
explanation = """
q /= √D writes into the array that was passed in. The caller's queries shrink with every call."""
hint = "Keep a copy of q, call the function, and compare."
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

    q /= math.sqrt(q.shape[-1])
    scores = q @ np.swapaxes(k, -1, -2)
    if mask is not None:
        blocked = np.broadcast_to(mask, scores.shape) != 0
        scores = np.where(blocked, -math.inf, scores)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(shifted)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ v, weights
