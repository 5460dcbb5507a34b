'''
title = "view on the inputs wants contiguous memory"
killed_by = "non-contiguous"
explanation = """
Batch and heads are folded with view, which raises where the input was transposed before, as it \
is after splitting heads."""
hint = """
Which function does what view does, and copies where it has to?"""
'''

import math

import torch


def sparse_mask(length, window, stride, num_global):
    if stride < 1:
        raise ValueError("the stride is below 1")
    if min(length, window, num_global) < 0:
        raise ValueError("a size is negative")
    query = torch.arange(length).unsqueeze(1)
    key = torch.arange(length)
    distance = query - key
    near = distance.abs() <= window
    strided = distance % stride == 0
    anchored = torch.minimum(query, key) < num_global
    return near | strided | anchored


def sparse_attention(q, k, v, mask):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    if mask.dtype is not torch.bool or mask.shape != (q.shape[-2], q.shape[-2]):
        raise ValueError("the mask is not boolean (L, L)")
    folded = k.view(-1, *k.shape[2:]).transpose(-2, -1)
    scores = q.view(-1, *q.shape[2:]) @ folded / math.sqrt(q.shape[-1])
    scores = scores.view(*q.shape[:3], -1)
    scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v
