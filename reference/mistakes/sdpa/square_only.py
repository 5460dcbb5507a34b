'''
title = "Without a mask one of L × L is made, whatever S is"
killed_by = "output-shape"
explanation = """
The default mask has as many columns as there are queries. It fits only where there are as many \
keys as queries."""
hint = "Call it with 5 queries and 7 keys. Which shape has the mask?"
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
    if mask is None:
        mask = torch.ones(q.shape[-2], q.shape[-2], device=q.device)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
