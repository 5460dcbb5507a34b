'''
title = "np.dot multiplies every item with every other one"
killed_by = "output-shape"
explanation = """
For arrays with more than two dimensions np.dot does not keep the leading axes together: it pairs \
every item and head of q with every item and head of k. matmul, the operator @, works item by \
item."""
hint = "Print np.dot(a, b).shape and (a @ b).shape for arrays of three dimensions."
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

    scores = np.dot(q, np.swapaxes(k, -1, -2)) / math.sqrt(q.shape[-1])
    if mask is not None:
        blocked = np.broadcast_to(mask, scores.shape) != 0
        scores = np.where(blocked, -math.inf, scores)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(shifted)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.dot(weights, v), weights
