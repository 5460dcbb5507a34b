# expect: rejected
# problem: sparse-attention
# mistake: True blocks in both functions: a pair that fits itself
import torch


def sparse_mask(length, window, stride, num_global):
    i = torch.arange(length)[:, None]
    j = torch.arange(length)[None, :]
    far = (i - j).abs() > window
    return far & ((i - j) % stride != 0) & (i >= num_global) & (j >= num_global)


def sparse_attention(q, k, v, mask):
    s = torch.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
    s = s.masked_fill(mask, float("-inf"))
    return torch.einsum("bhij,bhjd->bhid", s.softmax(-1), v)
