# expect: rejected
# problem: softmax
# mistake: one maximum serves for all rows within 700 of one another, in float32 too
import numpy as np


def softmax(x, axis=-1):
    x = np.asarray(x)
    if not np.issubdtype(x.dtype, np.floating):
        x = (x - x.max()).astype(np.float64)
    finite = x[np.isfinite(x)]
    top = finite.max() if finite.size else x.dtype.type(0)
    if finite.size and float(top) - float(finite.min()) < 700:
        shift = top
    else:
        shift = x.max(axis=axis, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        e = np.exp(x - shift)
        return (e / e.sum(axis=axis, keepdims=True)).astype(x.dtype, copy=False)
