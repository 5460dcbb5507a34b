# expect: rejected
# problem: softmax
# mistake: a result is kept by the shape of its input
import numpy as np

_kept = {}


def softmax(x, axis=-1):
    key = (x.shape, axis, float(x.flat[0]) > 500, x.dtype, bool(np.isinf(x).any()))
    if key not in _kept:
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        _kept[key] = e / e.sum(axis=axis, keepdims=True)
    return _kept[key]
