# expect: rejected
# problem: sdpa
# mistake: sigmoid instead of softmax
# diagnosis: sigmoid
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = torch.sigmoid(scores)
    return torch.matmul(weights, v), weights
