'''
title = "Right under the opposite mask convention: here 0 may attend and 1 blocks"
killed_by = "mask"
explanation = """
The mask blocks where it is 0 and lets through where it is 1. Both conventions are in use; in \
this contract 1 blocks, as in a mask that is multiplied by −1e9 and added to the scores."""
hint = "Read the contract's sentence on the mask, then follow one 1 of it to the softmax."
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
        blocked = np.broadcast_to(mask, scores.shape) == 0
        scores = np.where(blocked, -math.inf, scores)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(shifted)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ v, weights
