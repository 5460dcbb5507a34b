'''
title = "With a mask the exponentials overflow"
killed_by = "masked-large-logits"
explanation = """
Without a mask the softmax subtracts the largest score, with one it is written out by hand and \
does not: exp of a large score is infinite."""
hint = "Put a mask and a score of 200 together."
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
    if mask is not None:
        weights = torch.exp(scores) / torch.exp(scores).sum(dim=-1, keepdim=True)
    return weights @ v, weights
