# expect: rejected
# problem: sdpa-numpy
# mistake: the weights are not returned
# diagnosis: output-only
import numpy as np


def attention_numpy(q, k, v, mask=None):
    s = np.matmul(q, k.swapaxes(-1, -2)) / np.sqrt(q.shape[-1])
    if mask is not None:
        s = s + mask * -1e9
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return np.matmul(p, v)
