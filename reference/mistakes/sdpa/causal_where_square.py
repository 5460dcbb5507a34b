'''
title = "Without a mask, equal lengths are taken for causal self-attention"
killed_by = "square"
explanation = """
Where there are as many keys as queries a causal mask is made. Nothing in the contract asks for \
one: no mask means that every query meets every key."""
hint = """
Call it without a mask for 4 queries and 4 keys, then for 4 queries and 5 keys. How much weight \
gets the last key?"""
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
    if mask is None and q.shape[-2] == k.shape[-2]:
        mask = torch.ones(scores.shape[-2:], device=q.device).tril()
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
