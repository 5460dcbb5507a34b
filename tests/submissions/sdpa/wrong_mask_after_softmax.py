# expect: rejected
# problem: sdpa
# mistake: weights zeroed after softmax, not renormalised
# diagnosis: mask-after-softmax
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask == 0, 0.0)
    return torch.matmul(weights, v), weights
