'''
title = "Softmax over the queries instead of the keys"
killed_by = "weights"
explanation = """
The columns of the weights sum to 1, not the rows: queries compete for a key, where each query \
should share itself out among the keys."""
hint = "Sum the weights over the keys, for one query. What must come out?"
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
    weights = torch.softmax(scores, dim=-2)
    return weights @ v, weights
