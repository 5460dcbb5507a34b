# expect: rejected
# problem: sdpa-numpy
# mistake: axes (0, 1, 3, 2) only
# diagnosis: only-four-dimensions
import numpy as np


def sdpa(q, k, v, mask=None):
    s = np.matmul(q, np.transpose(k, (0, 1, 3, 2))) / np.sqrt(q.shape[3])
    if mask is not None:
        s = s + mask * -1e9
    p = np.exp(s - s.max(3, keepdims=True))
    p /= p.sum(3, keepdims=True)
    return np.matmul(p, v), p
