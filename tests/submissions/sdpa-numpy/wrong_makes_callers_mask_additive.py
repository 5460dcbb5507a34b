# expect: rejected
# problem: sdpa-numpy
# mistake: mask *= -1e9 in place
# diagnosis: mask-changed-in-place
import numpy as np


def sdpa(q, k, v, mask=None):
    s = np.matmul(q, k.swapaxes(-1, -2)) / np.sqrt(q.shape[-1])
    if mask is not None:
        if mask.dtype.kind == "f":
            mask *= -1e9
        else:
            mask = mask * -1e9
        s = s + mask
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return np.matmul(p, v), p
