# expect: accepted
# problem: sparse-attention
import math

import torch


def sparse_mask(length, window, stride, num_global):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        for j in range(length):
            if abs(i - j) <= window:
                mask[i][j] = True
            if (i - j) % stride == 0:
                mask[i][j] = True
            if i < num_global or j < num_global:
                mask[i][j] = True
    return mask


def sparse_attention(q, k, v, mask):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    scores = scores.masked_fill(mask == 0, -1e9)
    attn = torch.softmax(scores, dim=-1)
    return torch.matmul(attn, v)
