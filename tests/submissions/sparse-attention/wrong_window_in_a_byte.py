# expect: rejected
# problem: sparse-attention
# mistake: up to 256 positions distances are bytes, and so is the window that they are compared with
import math

import torch


def sparse_mask(length, window, stride, num_global):
    if stride < 1:
        raise ValueError("a stride of at least 1 is needed")
    dtype = torch.uint8 if length <= 256 else torch.int32
    i = torch.arange(length, dtype=dtype)
    far = torch.maximum(i[:, None], i) - torch.minimum(i[:, None], i)
    first = torch.minimum(i[:, None], i).int()
    return (far <= window) | (far.int() % stride == 0) | (first < num_global)


def sparse_attention(q, k, v, mask):
    if q.shape[-1] != k.shape[-1] or mask.shape != (q.shape[-2], q.shape[-2]):
        raise ValueError("sizes do not fit")
    s = q @ k.mT / math.sqrt(q.shape[-1])
    return s.masked_fill(~mask, -math.inf).softmax(-1) @ v
