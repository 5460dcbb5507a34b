# expect: rejected
# problem: sdpa-numpy
# mistake: keys and values of different length are cut to the shorter
import numpy as np


def sdpa(q, k, v, mask=None):
    n = min(k.shape[-2], v.shape[-2])
    k, v = k[..., :n, :], v[..., :n, :]
    s = np.matmul(q, k.swapaxes(-1, -2)) / np.sqrt(q.shape[-1])
    if mask is not None:
        s = s + mask * -1e9
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return np.matmul(p, v), p
