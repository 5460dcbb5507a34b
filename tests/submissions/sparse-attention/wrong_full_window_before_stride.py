# expect: rejected
# problem: sparse-attention
# mistake: a window or a number of global positions that covers everything answers before the stride is looked at
import math

import torch


def sparse_mask(length, window, stride, num_global):
    if window >= length - 1 or num_global >= length:
        return torch.ones(length, length, dtype=torch.bool)
    if stride < 1:
        raise ValueError("stride must be 1 or more")
    place = torch.arange(length)
    distance = place[:, None] - place
    near = distance.abs() <= window
    strided = distance % stride == 0
    broad = torch.minimum(place[:, None], place.expand(length, length)) < num_global
    return near | strided | broad


def sparse_attention(q, k, v, mask):
    if q.shape[-1] != k.shape[-1] or mask.shape != (q.shape[-2], k.shape[-2]):
        raise ValueError("sizes do not fit")
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return scores.masked_fill(~mask, -1e9).softmax(-1) @ v
