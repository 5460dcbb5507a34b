'''
title = "The mask is applied after the softmax"
killed_by = "mask"
explanation = """
Weights are set to 0 after they were shared out, so that those left over do not sum to 1 any \
more."""
hint = "Add up the weights of a query with a blocked key."
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
    shifted = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(shifted)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    if mask is not None:
        weights = weights * (mask == 0)
    return weights @ v, weights
