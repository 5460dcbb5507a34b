'''
title = "Blocked scores get a constant that is not low enough"
killed_by = "blocked-key-is-not-felt"
explanation = """
exp of a number like −10 is small and not 0: a blocked key with a large value shows in the \
output, and other scores may lie lower still."""
hint = """
What does a weight of 0.00005 do to a value of 1000? And if every other score is −200?"""
[variants]
replace = "-10.0"
by = ["-1.0", "-5.0", "-20.0", "-30.0", "-50.0", "-99.0", "-100.0"]
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
    scores = scores.masked_fill(~mask, -10.0)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v
