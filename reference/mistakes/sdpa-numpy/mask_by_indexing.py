'''
title = "The mask indexes the scores, and indexing does not broadcast"
killed_by = "mask"
explanation = """
scores[mask == 1] wants a mask of exactly the shape of the scores. Masks of sizes 1, or with \
fewer dimensions, raise or pick other entries."""
hint = "Which operations broadcast their arguments, and does indexing?"
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
        scores[mask != 0] = -math.inf
    shifted = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(shifted)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ v, weights
