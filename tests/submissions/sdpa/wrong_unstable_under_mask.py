# expect: rejected
# problem: sdpa
# mistake: unstable under mask
# diagnosis: no-max-subtraction-under-mask
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        weights = torch.exp(scores) * (mask != 0)
        weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ v, weights
