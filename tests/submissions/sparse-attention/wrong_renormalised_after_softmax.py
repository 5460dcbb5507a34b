# expect: rejected
# problem: sparse-attention
# mistake: renormalised after the softmax: a loud blocked key underflows the rest
import torch


def sparse_mask(length, window, stride, num_global):
    i = torch.arange(length)[:, None]
    j = torch.arange(length)[None, :]
    return ((i - j).abs() <= window) | ((i - j) % stride == 0) | (i < num_global) | (j < num_global)


def sparse_attention(q, k, v, mask):
    w = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) * mask
    return (w / w.sum(-1, keepdim=True)) @ v
