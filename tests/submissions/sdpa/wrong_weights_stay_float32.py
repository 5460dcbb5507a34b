# expect: rejected
# problem: sdpa
# mistake: weights stay float32
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -math.inf)
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32)
    return weights.to(q.dtype) @ v, weights
