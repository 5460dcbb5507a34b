'''
title = "Blocked scores get the smallest float32, which bfloat16 cannot hold"
killed_by = "bfloat16"
explanation = """
finfo(float32).min is out of the range of bfloat16 and float16, so the fill raises there. The \
constant must belong to the dtype of the scores."""
hint = "Which dtype do the scores have, and what is its smallest number?"
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
        scores = scores.masked_fill((mask == 0).expand_as(scores), torch.finfo(torch.float32).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
