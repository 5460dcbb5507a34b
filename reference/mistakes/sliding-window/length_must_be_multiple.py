'''
title = "Lengths that are no multiple of the window raise"
killed_by = "any-length"
explanation = """
The sequence is cut into blocks of `window` positions, and the last one may be shorter. Pad it, \
and cut the padding off again."""
hint = """
What happens to the last block of 13 positions with a window of 4?"""
'''

import math

import torch


def sliding_window_attention(q, k, v, window):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    if window < 1:
        raise ValueError("the window is empty")
    length = q.shape[-2]
    if length > window and length % window:
        raise RuntimeError("the length is no multiple of the window")
    offsets = torch.arange(1 - min(window, length), 1, device=q.device)
    places = torch.arange(length, device=q.device).unsqueeze(1) + offsets
    keys = k[..., places.clamp(min=0), :]
    values = v[..., places.clamp(min=0), :]
    scores = torch.einsum("bhld,bhlwd->bhlw", q, keys) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(places < 0, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
