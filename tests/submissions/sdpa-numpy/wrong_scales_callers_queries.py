# expect: rejected
# problem: sdpa-numpy
# mistake: q /= in place
# diagnosis: queries-scaled-in-place
import numpy as np


def sdpa(q, k, v, mask=None):
    q /= float(np.sqrt(q.shape[-1]))
    s = np.matmul(q, k.swapaxes(-1, -2))
    if mask is not None:
        s = s + mask * -1e9
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return np.matmul(p, v), p
