# expect: rejected
# problem: softmax
# mistake: has no parameter for the axis
import numpy as np


def softmax(x):
    p = np.exp(x - x.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True)
