'''
title = "The mask of the first call is used for later ones of that length"
killed_by = "repeatable"
explanation = """
Masks are kept by length alone, so a later call with another pattern gets the pattern of an \
earlier one."""
hint = """
Call it twice with the same tensors and two masks."""
# what it answers depends on every call before
by_chance = true
'''

import math

import torch

KEPT = {}


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
    scores = scores.masked_fill(~KEPT.setdefault(len(mask), mask), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v
