'''
title = "Dropout acts outside training too"
killed_by = "values"
explanation = """
F.dropout drops by default, whether anything is being trained or not. The same call gives another \
answer each time."""
hint = "Call it twice with the same input."
by_chance = true
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
    weights = torch.nn.functional.dropout(torch.softmax(scores, dim=-1), 0.1)
    return weights @ v, weights
