'''
title = "The exponentials overflow: the largest score is not subtracted"
killed_by = "large-logits"
explanation = """
exp of a score above 88 is infinite in float32, and inf / inf is NaN. Subtracting the largest \
score of a row first changes nothing in the result and keeps every exponential at most 1."""
hint = "Which number may be added to all scores of a row without changing its softmax?"
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
    weights = torch.exp(scores) / torch.exp(scores).sum(dim=-1, keepdim=True)
    return weights @ v, weights
