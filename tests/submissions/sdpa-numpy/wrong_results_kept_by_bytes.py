# expect: rejected
# problem: sdpa-numpy
# mistake: results are kept by the bytes of the inputs, whatever their shape
import math

import numpy as np

_last = {"key": None, "value": None}


def _digest(a):
    if a is None:
        return None
    a = np.asarray(a)
    return (a.dtype.str, a.size, hash(a.tobytes()))


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("shapes of q, k and v do not match")
    key = tuple(_digest(a) for a in (q, k, v, mask))
    if _last["key"] != key:
        scores = np.matmul(q, np.swapaxes(k, -1, -2)) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(np.asarray(mask).astype(bool), -1e9, scores)
        scores = scores - scores.max(-1, keepdims=True)
        weights = np.exp(scores)
        weights = weights / weights.sum(-1, keepdims=True)
        _last["value"] = (np.matmul(weights, v), weights)
        _last["key"] = key
    output, weights = _last["value"]
    return output.copy(), weights.copy()
