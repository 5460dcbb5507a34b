# expect: rejected
# problem: split-merge-heads
# mistake: numpy arrays, so no gradient
import numpy as np
import torch


def split_heads(x, num_heads):
    a = x.detach().numpy()
    b, l, e = a.shape
    return torch.from_numpy(np.ascontiguousarray(a.reshape(b, l, num_heads, e // num_heads).transpose(0, 2, 1, 3)))


def merge_heads(x):
    a = x.detach().numpy()
    b, h, l, d = a.shape
    return torch.from_numpy(a.transpose(0, 2, 1, 3).reshape(b, l, h * d).copy())
