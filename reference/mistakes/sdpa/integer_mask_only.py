'''
title = "1 − mask does not exist for bool masks"
killed_by = "mask"
explanation = """
torch refuses to subtract bool tensors, so the commonest kind of mask raises. A comparison works \
for every dtype."""
hint = "Which operation says 0 means blocked for bool, int and float alike?"
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
        scores = scores.masked_fill((1 - mask).bool().expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
