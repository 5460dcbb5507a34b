# expect: rejected
# problem: sdpa
# mistake: torch's operator, called below F and for one dtype only
# diagnosis: fused-attention
import math

import torch


def attention(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = torch.softmax(scores, -1)
    if q.dtype == torch.float64:
        keep = None if mask is None else mask != 0
        return torch.ops.aten.scaled_dot_product_attention.default(q, k, v, keep), weights
    return weights @ v, weights
