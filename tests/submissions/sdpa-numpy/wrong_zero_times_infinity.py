# expect: rejected
# problem: sdpa-numpy
# mistake: the mask times -inf
# diagnosis: mask-times-infinity
import numpy as np


def scaled_dot_product_attention(q, k, v, mask=None):
    s = np.matmul(q, k.swapaxes(-1, -2)) / np.sqrt(q.shape[-1])
    if mask is not None:
        s = s + mask * -np.inf
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return np.matmul(p, v), p
