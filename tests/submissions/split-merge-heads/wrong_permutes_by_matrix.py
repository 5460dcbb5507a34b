# expect: rejected
# problem: split-merge-heads
# mistake: permutes by matrix
import torch


def split_heads(x, num_heads):
    batch, length, width = x.shape
    if width % num_heads:
        raise ValueError
    heads = x.reshape(batch, length, num_heads, -1).transpose(1, 2)
    eye = torch.eye(heads.shape[-1], dtype=x.dtype)
    return heads @ eye


def merge_heads(x):
    batch, heads, length, size = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * size)
