# expect: rejected
# problem: sdpa
# mistake: mask guessed by size
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        if mask.dim() == 2 and q.dim() == 4 and mask.shape[0] == q.shape[0]:
            mask = mask[:, None, None, :]
        scores = scores.masked_fill(mask == 0, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
