# expect: rejected
# problem: sdpa
# mistake: float64 mask raises
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        bias = mask if mask.is_floating_point() else mask.to(q.dtype)
        scores = scores + (1.0 - bias) * -1e9
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
