# expect: rejected
# problem: softmax
# mistake: np.exp(..., out=x)
import numpy as np


def softmax(x, axis=-1):
    if x.dtype.kind != "f":
        x = x.astype(float)
    np.exp(x - x.max(axis=axis, keepdims=True), out=x)
    return x / x.sum(axis=axis, keepdims=True)
