# expect: accepted
# problem: sdpa-numpy
import numpy as np


def attention(query, key, value, mask=None):
    s = np.matmul(query, np.moveaxis(key, -1, -2))
    s *= query.shape[-1] ** -0.5
    if mask is not None:
        s += mask * -1e9
    s -= s.max(-1, keepdims=True)
    np.exp(s, out=s)
    s /= s.sum(-1, keepdims=True)
    return s @ value, s
