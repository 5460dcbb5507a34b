'''
title = "The exponentials overflow: the largest score is not subtracted"
killed_by = "large-logits"
explanation = """
exp of a score above 88 is infinite in float32, and inf / inf is NaN. Subtracting the largest \
score of a row first changes nothing in the result."""
hint = """
Which number may be added to all scores of a row without changing its softmax?"""
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
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ v
