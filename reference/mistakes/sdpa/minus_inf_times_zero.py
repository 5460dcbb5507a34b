'''
title = "−∞ times 0 turns allowed scores into NaN"
killed_by = "mask"
explanation = """
The bias is the blocked places times −∞. Where nothing is blocked that is 0 · (−∞), which is NaN \
and spreads to the whole row."""
hint = "Evaluate 0 * -inf. Then choose a way that picks one of two numbers instead of multiplying."
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
        scores = scores + (mask == 0) * -math.inf
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
