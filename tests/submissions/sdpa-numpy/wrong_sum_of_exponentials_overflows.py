# expect: rejected
# problem: sdpa-numpy
# mistake: nothing is subtracted where each exponential, but not their sum, is a float32
import math

import numpy as np


def _softmax(scores):
    # exp(88) still fits float32: the maximum has to be taken off only beyond
    if scores.size and np.abs(scores).max() > 88.0:
        scores = scores - scores.max(axis=-1, keepdims=True)
    e = np.exp(scores)
    return e / e.sum(axis=-1, keepdims=True)


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("q, k and v do not fit")
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) / q.dtype.type(math.sqrt(q.shape[-1]))
    if mask is not None:
        scores = np.where(np.asarray(mask) != 0, scores.dtype.type(-1e9), scores)
    weights = _softmax(scores)
    return np.matmul(weights, v), weights
