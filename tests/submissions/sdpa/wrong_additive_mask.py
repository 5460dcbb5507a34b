# expect: rejected
# problem: sdpa
# mistake: takes the mask as an additive 0/-inf bias
# diagnosis: mask-added
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + mask
    w = scores.softmax(-1)
    return w @ v, w
