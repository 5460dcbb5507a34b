'''
title = "Every batch item gets the mask of item 0"
killed_by = "mask-broadcasts"
explanation = """
A 4-D mask is cut down to its first batch item. With one sequence, or equal lengths, nothing \
shows."""
hint = "Two sequences with different padding: compare the second with the same sequence alone."
'''

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k differ in width")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("k and v differ in length")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError("leading dimensions differ")
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        mask = mask[:1] if mask.dim() == 4 else mask
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
