# expect: rejected
# problem: sdpa
# mistake: a floating mask is tested bit by bit, so that -0.0 counts as open
import math

import torch

_BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


def _open(mask):
    if mask.is_floating_point():
        # zero is the number of which no bit is set: saves a comparison in floating point
        mask = mask.detach().view(_BITS[mask.element_size()])
    return mask != 0


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
        raise ValueError("sizes do not fit")
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~_open(mask), torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
