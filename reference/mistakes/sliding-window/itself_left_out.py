'''
title = "A query does not see itself"
killed_by = "window-of-one"
explanation = """
The window stops at i − 1. The contract's window ends with the query's own position, and the \
first query has nothing else to attend to."""
hint = """
Which key does the very first query attend to?"""
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
    keys = k[..., places.clamp(min=0), :]
    values = v[..., places.clamp(min=0), :]
    scores = torch.einsum("bhld,bhlwd->bhlw", q, keys) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill((places < 0) | (offsets == 0), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
