# expect: rejected
# problem: sdpa
# mistake: float mask changed in place
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        mask = mask.to(q.dtype)
        mask[mask == 0] = -math.inf
        mask[mask == 1] = 0
        scores = scores + mask
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
