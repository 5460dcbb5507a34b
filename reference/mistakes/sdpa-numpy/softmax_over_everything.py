'''
title = "One softmax over all scores together"
killed_by = "weights"
explanation = """
Without an axis, max() and sum() run over every entry, so that all queries of all heads share a \
single 1."""
hint = "Add up the weights of one query."
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
    shifted = scores - scores.max()
    weights = np.exp(shifted)
    weights = weights / weights.sum()
    return weights @ v, weights
