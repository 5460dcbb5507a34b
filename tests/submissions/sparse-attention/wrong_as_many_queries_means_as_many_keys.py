# expect: rejected
# problem: sparse-attention
# mistake: keys are gathered where each has as many queries, as if each query had as many keys
import math

import torch


def sparse_mask(length, window, stride, num_global):
    if stride < 1:
        raise ValueError("stride must be at least 1")
    place = torch.arange(length)
    i, j = place[:, None], place[None, :]
    return ((i - j).abs() <= window) | ((i - j) % stride == 0) | (torch.minimum(i, j) < num_global)


def sparse_attention(q, k, v, mask):
    length = k.shape[-2]
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k must have the same width")
    if v.shape[-2] != length or q.shape[-2] != length:
        raise ValueError("q, k and v must have the same length")
    if tuple(mask.shape) != (length, length):
        raise ValueError("mask must be (L, L)")
    mask = mask.to(q.device) != 0
    q = q / math.sqrt(q.shape[-1])

    counts = mask.sum(0)
    count = int(counts[0])
    if 0 < count < length and bool((counts == count).all()):
        # Every row has `count` keys: gather those, and compute no others.
        index = mask.nonzero()[:, 1].view(length, count)
        scores = torch.einsum("bhld,bhlcd->bhlc", q, k[:, :, index])
        weights = torch.softmax(scores, dim=-1)
        return torch.einsum("bhlc,bhlcd->bhld", weights, v[:, :, index])

    scores = torch.matmul(q, k.transpose(-2, -1))
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return torch.matmul(torch.softmax(scores, dim=-1), v)
