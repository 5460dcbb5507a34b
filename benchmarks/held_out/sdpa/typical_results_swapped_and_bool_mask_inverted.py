# problem: sdpa
# wrong: (two faults) the result is (output, weights) and 1 means may; here it is (weights, output) and a bool mask blocks where True
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)
    if mask is not None:
        if mask.dtype == torch.bool:
            scores = scores.masked_fill(mask, -1e9)
        else:
            scores = scores.masked_fill(mask == 0, -1e9)
    weights = F.softmax(scores / q.size(-1) ** 0.5, dim=-1)
    return weights, weights @ v
