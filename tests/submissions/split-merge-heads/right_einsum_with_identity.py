# expect: accepted
# problem: split-merge-heads
import torch


def split_heads(x, num_heads):
    b, l, e = x.shape
    return torch.einsum("blhd->bhld", x.reshape(b, l, num_heads, e // num_heads))


def merge_heads(x):
    return torch.einsum("bhld->blhd", x).reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])
