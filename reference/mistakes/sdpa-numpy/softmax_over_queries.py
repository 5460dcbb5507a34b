'''
title = "Softmax over the queries instead of the keys"
killed_by = "weights"
explanation = """
The weights sum to 1 over axis −2. Each query must share out one whole among the keys, which lie \
along the last axis of the scores."""
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
    shifted = scores - scores.max(axis=-2, keepdims=True)
    weights = np.exp(shifted)
    weights = weights / weights.sum(axis=-2, keepdims=True)
    return weights @ v, weights
