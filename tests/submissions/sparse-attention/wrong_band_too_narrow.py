# expect: rejected
# problem: sparse-attention
# mistake: tril and triu one off: |i - j| < window
# diagnosis: window-too-narrow
import torch


def sparse_mask(length, window, stride, num_global):
    ones = torch.ones(length, length, dtype=torch.bool)
    band = ones.tril(window - 1) & ones.triu(1 - window)
    i = torch.arange(length)
    g = i < num_global
    return band | ((i[:, None] - i[None]) % stride == 0) | g[:, None] | g[None]


def sparse_attention(q, k, v, mask):
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return s.masked_fill(~mask, float("-inf")).softmax(-1) @ v
