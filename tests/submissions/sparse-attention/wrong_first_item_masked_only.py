# expect: rejected
# problem: sparse-attention
# mistake: only the first batch item's scores are masked
import torch


def sparse_mask(length, window, stride, num_global):
    i = torch.arange(length)[:, None]
    j = torch.arange(length)[None, :]
    return ((i - j).abs() <= window) | ((i - j) % stride == 0) | (i < num_global) | (j < num_global)


def sparse_attention(q, k, v, mask):
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    s = s.clone()
    s[0] = s[0].masked_fill(~mask, float("-inf"))
    return s.softmax(-1) @ v
