'''
title = "The scores are divided by the root of the number of keys"
killed_by = "scale"
explanation = """
The divisor is √S. The spread of a score comes from the D products in it, not from how many keys \
there are; here attention gets flatter as the sequence gets longer."""
hint = "Which axis does the product of q and k sum over? Its size is the one that counts."
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
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-2])
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
