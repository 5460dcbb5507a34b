# expect: rejected
# problem: softmax
# mistake: no axis at all
# diagnosis: sum-of-all
import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / np.sum(e)
