# expect: rejected
# problem: sparse-attention
# mistake: positions beyond a mask of whole blocks are let through
import math

import torch

BLOCK = 64


def sparse_mask(length, window, stride, num_global):
    if stride < 1:
        raise ValueError("stride is 1 or more")
    i = torch.arange(length)
    difference = i[:, None] - i[None, :]
    smaller = torch.minimum(i[:, None], i[None, :])
    return (difference.abs() <= window) | (difference % stride == 0) | (smaller < num_global)


def sparse_attention(q, k, v, mask):
    """Block-sparse: a block of queries meets the blocks of keys in which it may see something."""
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k differ in width")
    L, scale = q.shape[-2], 1 / math.sqrt(q.shape[-1])
    mask = mask.to(q.device)
    output = []
    for i in range(0, L, BLOCK):
        rows = q[:, :, i : i + BLOCK]
        scores, values = [], []
        for j in range(0, L, BLOCK):
            allowed = mask[i : i + BLOCK, j : j + BLOCK]
            if not allowed.any():
                continue
            part = rows @ k[:, :, j : j + BLOCK].transpose(-1, -2) * scale
            scores.append(part.masked_fill(~allowed, torch.finfo(part.dtype).min))
            values.append(v[:, :, j : j + BLOCK])
        if scores:
            output.append(torch.cat(scores, -1).softmax(-1) @ torch.cat(values, -2))
        else:  # these queries see nothing at all
            output.append(torch.zeros_like(v[:, :, i : i + BLOCK]))
    return torch.cat(output, -2)
