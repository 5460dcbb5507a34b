# expect: rejected
# problem: sdpa
# mistake: float('1e-9') typed for -1e9
# diagnosis: blocked-scores-zero
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, 1e-9)
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, v), weights
