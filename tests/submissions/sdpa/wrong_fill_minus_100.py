# expect: rejected
# problem: sdpa
# mistake: fill minus 100
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -100)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
