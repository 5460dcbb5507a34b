# expect: rejected
# problem: sdpa-numpy
# mistake: blocks where the mask is 0
# diagnosis: mask-inverted
import numpy as np


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = np.matmul(q, k.swapaxes(-1, -2)) / np.sqrt(k.shape[-1])
    if mask is not None:
        scores = np.where(mask == 0, -1e9, scores)
    w = softmax(scores)
    return np.matmul(w, v), w
