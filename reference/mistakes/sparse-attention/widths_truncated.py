'''
title = "Input that does not fit is cut until it does"
killed_by = "bad-input"
explanation = """
Input that cannot be right gets an answer. A mismatch of widths or lengths is a bug of the \
caller, who should hear of it."""
hint = """
What should the caller learn who passes keys of another layer by mistake?"""
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
    width = min(q.shape[-1], k.shape[-1])
    q, k = q[..., :width], k[..., :width]
    if mask.dtype is not torch.bool or mask.shape != (q.shape[-2], q.shape[-2]):
        raise ValueError("the mask is not boolean (L, L)")
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v
