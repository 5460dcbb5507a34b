'''
title = "Sizes of 1 are squeezed out of the output"
killed_by = "size-one"
explanation = """
squeeze() drops every axis of size 1: one sequence, one head or one query makes the output lose a \
dimension."""
hint = "Call it with a batch of 1 and print the shape."
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
    weights = torch.softmax(scores, dim=-1)
    return (weights @ v).squeeze(), weights
