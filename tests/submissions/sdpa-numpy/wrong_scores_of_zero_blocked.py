# expect: rejected
# problem: sdpa-numpy
# mistake: a score of exactly 0 counts as blocked
import numpy as np
def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)
def scaled_dot_product_attention(q, k, v, mask=None):
    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        s = s * (1 - np.asarray(mask, float))
        s = np.where(s == 0, -1e9, s)
    w = softmax(s)
    return w @ v, w
