'''
title = "The mask indexes the scores, and indexing does not broadcast"
killed_by = "mask-broadcasts"
explanation = """
scores[mask == 0] wants a mask of exactly the shape of the scores. Masks of sizes 1, or with \
fewer dimensions, raise."""
hint = "Which operations broadcast their arguments, and does indexing?"
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
        scores[mask == 0] = -math.inf
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
