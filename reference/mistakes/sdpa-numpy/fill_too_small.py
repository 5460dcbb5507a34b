'''
title = "Blocked scores are not lowered far enough"
killed_by = "blocked-key-is-not-felt"
explanation = """
exp of a number like −10 is small and not 0: a blocked key with a large value shows in the \
output, and other scores may lie lower still."""
hint = "What does a weight of 0.00005 do to a value of 1000? And if every other score is −200?"
[variants]
replace = "-10.0"
by = ["-1.0", "-2.0", "-5.0", "-20.0", "-30.0", "-50.0", "-99.0", "-100.0"]
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
        scores = scores + blocked * scores.dtype.type(-10.0)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(shifted)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ v, weights
