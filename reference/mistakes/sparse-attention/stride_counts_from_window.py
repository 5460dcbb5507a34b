'''
title = "The stride is counted from the end of the window"
killed_by = "mask-values"
explanation = """
The strided keys begin behind the window: |i − j| − window is divided. The contract divides the \
distance itself, whatever the window."""
hint = """
With window = 1 and stride = 4: is the distance of 4 seen, or that of 5?"""
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
    strided = (distance.abs() - window) % stride == 0
    anchored = torch.minimum(query, key) < num_global
    return near | strided | anchored


def sparse_attention(q, k, v, mask):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    if mask.dtype is not torch.bool or mask.shape != (q.shape[-2], q.shape[-2]):
        raise ValueError("the mask is not boolean (L, L)")
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v
