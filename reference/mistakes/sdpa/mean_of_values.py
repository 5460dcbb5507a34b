'''
title = "Every key gets the same weight, whatever its score"
killed_by = "values"
explanation = """
The scores never reach the softmax, so each output is the plain mean of the values that the query \
may see."""
hint = "Change a key and nothing else. Should the output stay as it was?"
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
    scores = torch.zeros_like(q @ k.transpose(-2, -1))
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
