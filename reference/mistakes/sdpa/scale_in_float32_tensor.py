'''
title = "The scale is a float32 tensor of one element, which widens bfloat16"
killed_by = "bfloat16"
explanation = """
A tensor with a dimension takes part in type promotion: bfloat16 scores divided by a float32 \
vector become float32 and no longer multiply with bfloat16 values. A Python number would not do \
that."""
hint = "Print the dtype of the scores before and after the division."
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
    scores = q @ k.transpose(-2, -1) / torch.sqrt(torch.FloatTensor([q.shape[-1]]))
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
