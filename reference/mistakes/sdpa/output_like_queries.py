'''
title = "The output is reshaped like the queries"
killed_by = "output-shape"
explanation = """
The output has the width of the values, Dv. Giving it the shape of q works only where Dv = D."""
hint = "Call it with values of another width than the keys."
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
    weights = torch.softmax(scores, dim=-1)
    return (weights @ v).reshape(q.shape), weights
