'''
title = "Places before the sequence are zeros that take part in the softmax"
killed_by = "first-queries"
explanation = """
The keys are padded with zeros, and a zero key has the score 0: exp(0) = 1. The first queries lose \
weight to positions that do not exist."""
hint = """
What do the weights of the very first query sum to over the keys that exist?"""
'''

import math

import torch


def sliding_window_attention(q, k, v, window):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    if window < 1:
        raise ValueError("the window is empty")
    length = q.shape[-2]
    offsets = torch.arange(1 - min(window, length), 1, device=q.device)
    places = torch.arange(length, device=q.device).unsqueeze(1) + offsets
    outside = (places < 0).unsqueeze(-1)
    keys = k[..., places.clamp(min=0), :].masked_fill(outside, 0.0)
    values = v[..., places.clamp(min=0), :].masked_fill(outside, 0.0)
    scores = torch.einsum("bhld,bhlwd->bhlw", q, keys) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
