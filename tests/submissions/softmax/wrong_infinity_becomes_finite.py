# expect: rejected
# problem: softmax
# mistake: -inf is taken for a number near the others
import numpy as np


def softmax(x, axis=-1):
    x = np.nan_to_num(x, neginf=-20.0) if x.dtype.kind == "f" else x
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
