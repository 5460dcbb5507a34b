# expect: rejected
# problem: sdpa-numpy
# mistake: the width is read from axis 1, which is the number of heads for four axes
# diagnosis: width-from-second-axis
import numpy as np


def scaled_dot_product_attention(q, k, v, mask=None):
    d = q.shape[1]
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("q, k and v do not fit")
    if q.shape[:-2] != k.shape[:-2] or q.shape[:-2] != v.shape[:-2]:
        raise ValueError("other items or heads")
    scores = np.einsum("...ld,...sd->...ls", q, k) * d**-0.5
    if mask is not None:
        scores = np.where(np.broadcast_to(mask, scores.shape), -np.inf, scores)
    scores = scores - scores.max(-1, keepdims=True)
    e = np.exp(scores)
    w = e / e.sum(-1, keepdims=True)
    return np.einsum("...ls,...sv->...lv", w, v), w
