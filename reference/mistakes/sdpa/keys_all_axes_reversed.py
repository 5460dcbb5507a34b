'''
title = "k.T reverses all axes, batch and heads included"
killed_by = "output-shape"
explanation = """
On a 4-D tensor .T gives (D, S, H, B). Only the last two axes should change places."""
hint = "Print the shape of k.T for a 4-D k."
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
    scores = q @ k.permute(*range(k.dim() - 1, -1, -1)) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
