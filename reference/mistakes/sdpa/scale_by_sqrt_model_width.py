'''
title = "The scores are divided by the root of the width of all heads"
killed_by = "scale"
explanation = """
The divisor is √(H·D), the root of the model's width. A score is a sum over the D features of one \
head, so the scale must not depend on how many heads there are."""
hint = "Over how many products is one score summed?"
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
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1] * (q.shape[1] if q.dim() == 4 else 1))
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
