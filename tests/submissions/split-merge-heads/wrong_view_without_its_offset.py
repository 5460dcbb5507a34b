# expect: rejected
# problem: split-merge-heads
# mistake: heads side by side are viewed from where their memory begins
import torch


def split_heads(x, num_heads):
    batch, length, width = x.shape
    if width % num_heads:
        raise ValueError("num_heads must divide the width")
    return x.unflatten(-1, (num_heads, width // num_heads)).transpose(1, 2)


def merge_heads(x):
    batch, heads, length, size = x.shape
    # heads already side by side in memory (they come from split_heads): no copy
    if x.stride(3) == 1 and x.stride(1) == size:
        return torch.as_strided(x, (batch, length, heads * size), (x.stride(0), x.stride(2), 1), 0)
    return x.transpose(1, 2).reshape(batch, length, heads * size)
