# expect: rejected
# problem: sdpa-numpy
# mistake: scores are not divided
# diagnosis: no-scale
import numpy as np


def scaled_dot_product_attention(q, k, v, mask=None):
    s = q @ k.swapaxes(-1, -2)
    if mask is not None:
        s = s + mask * -1e9
    p = np.exp(s - s.max(-1, keepdims=True))
    p = p / p.sum(-1, keepdims=True)
    return p @ v, p
