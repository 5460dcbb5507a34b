# expect: rejected
# problem: sdpa-numpy
# mistake: the softmax has no axis
# diagnosis: softmax-over-everything
import numpy as np


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def scaled_dot_product_attention(q, k, v, mask=None):
    s = np.matmul(q, k.swapaxes(-1, -2)) / np.sqrt(q.shape[-1])
    if mask is not None:
        s = s + mask * -1e9
    w = softmax(s)
    return np.matmul(w, v), w
