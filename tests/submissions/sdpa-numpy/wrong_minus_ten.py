# expect: rejected
# problem: sdpa-numpy
# mistake: blocked scores are lowered by 10
# diagnosis: penalty-too-small
import numpy as np


def sdpa(q, k, v, mask=None):
    s = np.matmul(q, k.swapaxes(-1, -2)) * (1 / np.sqrt(q.shape[-1]))
    if mask is not None:
        s -= 10.0 * mask
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return np.matmul(p, v), p
