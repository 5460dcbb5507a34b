'''
title = "Right under an additive convention: the mask is added to the scores"
killed_by = "mask"
explanation = """
A mask of 0 and −∞ would be added. This contract's masks hold 0 and 1: adding them lifts the \
allowed scores by 1 and blocks nothing."""
hint = "What happens to the scores where the mask is 0?"
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
        scores = scores + mask
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
