# expect: rejected
# problem: split-merge-heads
# mistake: nan to zero
import torch


def split_heads(x, num_heads):
    batch, length, width = x.shape
    if width % num_heads:
        raise ValueError
    return torch.nan_to_num(x).reshape(batch, length, num_heads, -1).transpose(1, 2)


def merge_heads(x):
    batch, heads, length, size = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * size)
