'''
title = "The exponentials overflow: the largest score is not subtracted"
killed_by = "large-logits"
explanation = """
exp of a score above 709 is infinite in float64, above 88 in float32, and inf / inf is NaN. \
Subtracting the largest score of a row first changes nothing in the result and keeps every \
exponential at most 1."""
hint = "Which number may be subtracted from all scores of a row without changing its softmax?"
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
    shifted = scores
    weights = np.exp(shifted)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ v, weights
