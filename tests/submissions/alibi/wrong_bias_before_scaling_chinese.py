# expect: rejected
# problem: alibi
# mistake: 偏置在除以 √D 之前相加
# diagnosis: bias-scaled
import math

import torch


def alibi_slopes(num_heads):
    p = 2 ** math.floor(math.log2(num_heads))
    first = [2 ** (-8 * (i + 1) / p) for i in range(p)]
    more = [2 ** (-4 * (i + 1) / p) for i in range(0, 2 * p, 2)]
    return torch.tensor((first + more)[:num_heads])


def alibi_attention(q, k, v, slopes, causal=True):
    """带线性偏置的注意力"""
    长, 总 = q.shape[2], k.shape[2]
    if 长 > 总 or slopes.shape[0] != q.shape[1]:
        raise ValueError("大小不符")
    距离 = torch.arange(总 - 长, 总)[:, None] - torch.arange(总)
    分数 = q @ k.transpose(2, 3) - slopes[:, None, None] * 距离.abs()
    分数 = 分数 / math.sqrt(q.shape[3])
    if causal:
        分数 = 分数.masked_fill(距离 < 0, float("-inf"))
    return torch.softmax(分数, dim=-1) @ v
