# expect: rejected
# problem: softmax
# mistake: where an entry is −∞ one maximum serves all rows
import numpy as np


def softmax(x, axis=-1):
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    finite = np.isfinite(x)
    largest = x.max(axis=axis, keepdims=True) if finite.all() else x[finite].max()
    e = np.exp(np.where(finite, x - largest, -np.inf))
    return e / e.sum(axis=axis, keepdims=True)
