# expect: rejected
# problem: sdpa-numpy
# mistake: exp without subtracting the maximum
# diagnosis: no-max-subtraction
import numpy as np


def scaled_dot_product_attention(q, k, v, mask=None):
    s = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])
    if mask is not None:
        s = np.where(mask, -np.inf, s)
    e = np.exp(s)
    p = e / e.sum(-1, keepdims=True)
    return p @ v, p
