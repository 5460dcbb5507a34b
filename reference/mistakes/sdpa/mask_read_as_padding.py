'''
title = "Every mask is read as (B, S) and gets axes for heads and queries"
killed_by = "mask-broadcasts"
explanation = """
Two axes are put into each mask, which is right for a padding mask of two dimensions. In this \
contract two dimensions mean (L, S), and the other masks have all their axes already."""
hint = "Look up the four shapes that masks come in, and print what yours becomes."
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
        scores = scores.masked_fill(mask.unsqueeze(1).unsqueeze(2) == 0, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
