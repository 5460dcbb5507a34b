'''
title = "The scores are divided by D, not by √D"
killed_by = "scale"
explanation = """
A sum of D products has a spread of √D. Dividing by D makes the scores shrink as D grows, and the \
weights come close to uniform."""
hint = """
If the D products are independent with variance 1, what is the variance of their sum, and what \
its standard deviation?"""
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
    scores = q @ k.transpose(-2, -1) / q.shape[-1]
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
