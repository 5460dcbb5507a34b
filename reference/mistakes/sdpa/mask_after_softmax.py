'''
title = "The mask is applied after the softmax"
killed_by = "mask"
explanation = """
Blocked weights are set to 0 after normalising. They have already taken their share, so the rest \
sums to less than 1."""
hint = """
Sum a masked row of the weights. When must a key be gone for the others to share everything?"""
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
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill((mask == 0).expand_as(weights), 0.0)
    return weights @ v, weights
