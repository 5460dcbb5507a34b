# expect: rejected
# problem: sparse-attention
# mistake: the global tokens are read, but do not read
# diagnosis: global-columns-only
import torch


def sparse_mask(length, window, stride, num_global):
    d = torch.arange(length).unsqueeze(0) - torch.arange(length).unsqueeze(1)
    m = (d.abs() <= window) | (d.abs() % stride == 0)
    m[:, :num_global] = True
    return m


def sparse_attention(q, k, v, mask):
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return s.masked_fill(~mask, float("-inf")).softmax(-1) @ v
