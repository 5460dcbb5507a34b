'''
title = "With a mask the scores are not scaled"
killed_by = "mask"
explanation = """
The branch for a mask computes the scores again and leaves the division by √D out, so the same \
tokens get sharper weights as soon as a mask is given."""
hint = "Call it without a mask, then with a mask that blocks nothing, and compare."
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
        scores = (q @ k.transpose(-2, -1)).masked_fill(mask == 0, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
