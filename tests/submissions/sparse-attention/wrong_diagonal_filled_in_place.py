# expect: rejected
# problem: sparse-attention
# mistake: the mask is written to: the diagonal is always allowed
import torch


def sparse_mask(length, window, stride, num_global):
    i = torch.arange(length)[:, None]
    j = torch.arange(length)[None, :]
    return ((i - j).abs() <= window) | ((i - j) % stride == 0) | (i < num_global) | (j < num_global)


def sparse_attention(q, k, v, mask):
    mask.fill_diagonal_(True)
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return s.masked_fill(~mask, float("-inf")).softmax(-1) @ v
