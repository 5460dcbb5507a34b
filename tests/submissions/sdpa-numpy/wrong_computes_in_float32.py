# expect: rejected
# problem: sdpa-numpy
# mistake: float32 whatever comes in
# diagnosis: always-float32
import numpy as np


def sdpa(q, k, v, mask=None):
    q, k, v = np.float32(q), np.float32(k), np.float32(v)
    s = np.matmul(q, k.swapaxes(-1, -2)) / np.float32(np.sqrt(q.shape[-1]))
    if mask is not None:
        s = s + np.float32(mask) * np.float32(-1e9)
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return np.matmul(p, v), p
