'''
title = "Queries and keys of different width are cut to fit"
killed_by = "bad-widths"
explanation = """
Input that cannot be right gets an answer. A mismatch of widths is a bug of the caller, who \
should hear of it."""
hint = "What should the caller learn who passes keys of another layer by mistake?"
'''

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    width = min(q.shape[-1], k.shape[-1])
    q, k = q[..., :width], k[..., :width]
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("k and v differ in length")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError("leading dimensions differ")
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
