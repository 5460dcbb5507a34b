# expect: rejected
# problem: softmax
# mistake: a lone entry gets its 1 from an array that all callers share
import functools

import numpy as np


@functools.lru_cache(maxsize=32)
def _ones(shape, dtype):
    return np.ones(shape, dtype)


def softmax(x, axis=-1):
    x = np.asarray(x)
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
    if x.shape[axis] == 1:  # a lone entry always has all of the weight
        return _ones(x.shape, dtype)
    shifted = (x - x.max(axis=axis, keepdims=True)).astype(dtype, copy=False)
    e = np.exp(shifted)
    return e / e.sum(axis=axis, keepdims=True)
