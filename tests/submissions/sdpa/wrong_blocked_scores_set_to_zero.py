# expect: rejected
# problem: sdpa
# mistake: scores multiplied by the mask
# diagnosis: blocked-scores-zero
import math
import torch


def attention(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores * mask
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, v), weights
