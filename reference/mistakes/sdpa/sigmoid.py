'''
title = "A sigmoid stands in the place of the softmax"
killed_by = "weights"
explanation = """
A sigmoid judges each key by itself, so the weights of a query do not sum to 1 and its output \
grows with the number of keys."""
hint = "Sum a row of the weights. What must come out, whatever the scores are?"
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
    weights = torch.sigmoid(scores)
    return weights @ v, weights
