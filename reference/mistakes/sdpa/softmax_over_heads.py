'''
title = "Softmax over the axis of the heads"
killed_by = "weights"
explanation = """
dim=1 is the axis of the heads when the input is (B, H, L, D). The heads then compete with each \
other, and a query's weights do not sum to 1."""
hint = "Write the four letters of the scores' shape down and mark the axis of the keys."
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
    weights = torch.softmax(scores, dim=1)
    return weights @ v, weights
