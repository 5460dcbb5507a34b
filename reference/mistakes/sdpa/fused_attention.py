'''
title = "The output comes from torch's fused attention"
killed_by = "written-from-scratch"
explanation = """
F.scaled_dot_product_attention gives the right numbers, but the exercise is to write what it \
does."""
hint = "You have scores and weights already. Which product is left?"
by_check = true
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
    mask = None if mask is None else mask != 0
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, mask), weights
