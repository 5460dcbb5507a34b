# expect: accepted
# problem: sdpa-numpy
import numpy as np


def _softmax(z):
    m = np.max(z, axis=-1, keepdims=True)
    m[~np.isfinite(m)] = 0
    e = np.exp(z - m)
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total != 0)


def dot_product_attention(q, k, v, mask=None, scale=None):
    z = (q @ k.swapaxes(-1, -2)) * (scale or q.shape[-1] ** -0.5)
    if mask is not None:
        np.copyto(z, -np.inf, where=np.asarray(mask, dtype=bool))
    w = _softmax(z)
    return w @ v, w
