'''
title = "The inputs are cut from the graph"
killed_by = "gradients"
explanation = """
Detached copies, .data, no_grad or a detour through numpy: the output is right, but no gradient \
reaches queries, keys or values."""
hint = "Call backward on the output and look at v.grad."
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
    q, k, v = q.detach(), k.detach(), v.detach()
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
