# expect: rejected
# problem: sdpa-numpy
# mistake: the mask comes after the softmax
# diagnosis: mask-after-softmax
import numpy as np


def sdpa(q, k, v, mask=None):
    s = np.matmul(q, k.swapaxes(-1, -2)) / np.sqrt(q.shape[-1])
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    if mask is not None:
        p = p * (1.0 - mask)
    return np.matmul(p, v), p
