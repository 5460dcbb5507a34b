# expect: rejected
# problem: softmax
# mistake: rows of large arrays are written into a copy where axes lie in another order in memory
import numpy as np

LARGE = 65_536


def _rows(x):
    m = x.max(axis=-1, keepdims=True)
    e = np.exp(x - m) if x.dtype.kind == "f" else np.exp((x - m).astype(np.float64))
    return e / e.sum(axis=-1, keepdims=True)


def softmax(x, axis=-1):
    if axis not in (-1, x.ndim - 1):
        return np.moveaxis(softmax(np.moveaxis(x, axis, -1)), -1, axis)
    if x.size <= LARGE:
        return _rows(x)
    # Some rows at a time: the exponentials stay in the cache.
    result = np.empty_like(x, dtype=x.dtype if x.dtype.kind == "f" else np.float64)
    n = x.shape[-1]
    source, target = x.reshape(-1, n), result.reshape(-1, n)
    step = max(1, LARGE // n)
    for start in range(0, len(source), step):
        target[start : start + step] = _rows(source[start : start + step])
    return result
