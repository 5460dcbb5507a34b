# expect: rejected
# problem: sdpa-numpy
# mistake: scores[mask] does not broadcast
# diagnosis: mask-by-indexing
import numpy as np


def sdpa(q, k, v, mask=None):
    s = np.matmul(q, k.swapaxes(-1, -2)) / np.sqrt(q.shape[-1])
    if mask is not None:
        s[mask.astype(bool)] = -1e9
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return np.matmul(p, v), p
