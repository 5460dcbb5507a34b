'''
title = "Blocked scores become −10, which still weighs something"
killed_by = "blocked-key-is-not-felt"
explanation = """
exp(−10) is 0.00005 and not 0: a blocked key with a large value shows in the output, and one \
score of −10 is not out of reach of the others."""
hint = "What does a weight of 0.00005 do to a value of 1000?"
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
        scores = scores.masked_fill((mask == 0).expand_as(scores), -10.0)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
