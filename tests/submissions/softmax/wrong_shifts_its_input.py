# expect: rejected
# problem: softmax
# mistake: x -= max, in place
# diagnosis: input-shifted
import numpy as np


def softmax(x, axis=-1):
    if x.dtype.kind != "f":
        x = x.astype(float)
    x -= np.max(x, axis=axis, keepdims=True)
    e = np.exp(x)
    return e / np.sum(e, axis=axis, keepdims=True)
