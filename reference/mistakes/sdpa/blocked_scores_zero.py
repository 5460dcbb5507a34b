'''
title = "Blocked scores become 0 instead of −∞"
killed_by = "mask"
explanation = """
A score of 0 is an ordinary score: exp(0) = 1, so a blocked key keeps a fair share of the weight. \
Multiplying the scores by the mask does the same."""
hint = "Which score has an exponential of 0?"
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
        scores = scores.masked_fill((mask == 0).expand_as(scores), 0.0)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
