'''
title = "Each query takes the value of its best key alone"
killed_by = "weights"
explanation = """
The largest score gets weight 1 and every other 0. That is the limit of very large scores, and no \
gradient reaches queries and keys."""
hint = "Two keys with nearly the same score: how much weight should the second get?"
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
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.nn.functional.one_hot(scores.argmax(-1), scores.shape[-1]).to(q.dtype)
    return weights @ v, weights
