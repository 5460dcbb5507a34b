# expect: rejected
# problem: sdpa-numpy
# mistake: with one key all weights are 1, and the answer is given before the widths of q and k are compared
import math

import numpy as np


def _softmax(scores):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def scaled_dot_product_attention(q, k, v, mask=None):
    if k.shape[-2] == v.shape[-2] == 1:  # a single key gets all the weight
        weights = np.ones(q.shape[:-1] + (1,), dtype=q.dtype)
        return weights * v, weights
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("sizes do not fit")
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
            scores = np.where(np.asarray(mask) != 0, np.asarray(-1e9, dtype=scores.dtype), scores)
    weights = _softmax(scores)
    return weights @ v, weights
