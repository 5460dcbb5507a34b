# expect: rejected
# problem: sdpa
# mistake: blocks where the mask is 1
import math
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    # 掩码为 True 的位置被屏蔽
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask.bool(), -1e9)
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, v), weights
