# expect: rejected
# problem: softmax
# mistake: one maximum for the whole array
# diagnosis: max-of-all
import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x))
    return e / e.sum(axis=axis, keepdims=True)
