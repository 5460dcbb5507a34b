'''
title = "The keys are transposed only where their shape would not fit"
killed_by = "square"
explanation = """
Where the keys happen to be as many as they are wide, q @ k runs without the transpose and \
multiplies the wrong axes. Shapes that fit are no proof of the right product."""
hint = "What is multiplied where S equals D?"
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
    scores = q @ (k if k.shape[-2] == q.shape[-1] else k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
