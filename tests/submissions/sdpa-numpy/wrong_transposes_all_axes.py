# expect: rejected
# problem: sdpa-numpy
# mistake: k.T
import numpy as np


def scaled_dot_product_attention(q, k, v, mask=None):
    s = np.dot(q, k.T) / np.sqrt(k.shape[-1])
    if mask is not None:
        s = s + mask * -1e9
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return np.dot(p, v), p
