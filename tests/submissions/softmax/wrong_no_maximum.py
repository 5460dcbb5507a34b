# expect: rejected
# problem: softmax
# mistake: exp of the numbers themselves
# diagnosis: no-max-subtraction
import numpy as np


def softmax(x, axis=-1):
    return np.exp(x) / np.sum(np.exp(x), axis=axis, keepdims=True)
