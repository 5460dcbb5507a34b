# expect: rejected
# problem: softmax
# mistake: float32 whatever comes in
# diagnosis: always-float32
import numpy as np


def softmax(x, axis=-1):
    x = np.asarray(x, dtype=np.float32)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
