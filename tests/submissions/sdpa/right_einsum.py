# expect: accepted
# problem: sdpa
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.einsum("...ld,...sd->...ls", q, k) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(dim=-1)
    out = torch.einsum("...ls,...sd->...ld", weights, v)
    return out, weights
