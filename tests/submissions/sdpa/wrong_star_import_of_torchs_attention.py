# expect: rejected
# problem: sdpa
# mistake: torch's function comes by a star import
# diagnosis: fused-attention
from math import sqrt

from torch.nn.functional import *


def attention(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / sqrt(k.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    keep = None if mask is None else mask != 0
    return scaled_dot_product_attention(q, k, v, keep), softmax(scores, dim=-1)
