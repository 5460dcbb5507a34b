'''
title = "The softmax's float32 weights are not converted back"
killed_by = "bfloat16"
explanation = """
softmax(dtype=torch.float32) returns float32. A bfloat16 or float64 tensor of values cannot be \
multiplied with it until it has their dtype."""
hint = "Print the dtypes of the two factors of the last product."
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
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32)
    return weights @ v, weights
