'''
title = "view on the inputs wants contiguous memory"
killed_by = "non-contiguous"
explanation = """
Batch and heads are folded with view, which raises where the input was transposed before, as it \
is after splitting heads."""
hint = "Which function does what view does, and copies where it has to?"
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
    scores = q.view(-1, *q.shape[-2:]) @ k.view(-1, *k.shape[-2:]).transpose(-2, -1)
    scores = scores.view(*q.shape[:-1], k.shape[-2]) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
