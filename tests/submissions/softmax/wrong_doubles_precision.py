# expect: rejected
# problem: softmax
# mistake: float64 whatever comes in
# diagnosis: always-float64
import numpy as np


def softmax(x, axis=-1):
    x = np.asarray(x, dtype=float)
    m = x.max(axis=axis, keepdims=True)
    e = np.exp(x - m)
    return e / e.sum(axis=axis, keepdims=True)
