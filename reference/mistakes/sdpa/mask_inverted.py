'''
title = "Right under the opposite mask convention: here 1 blocks"
killed_by = "mask"
explanation = """
The mask blocks where it is 1 and lets through where it is 0. Both conventions are in use; in this \
contract 0 blocks and 1 may attend."""
hint = "Read the contract's sentence on the mask, then follow one 0 of it to the softmax."
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
        scores = scores.masked_fill((mask != 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
