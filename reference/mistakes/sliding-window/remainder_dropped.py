'''
title = "What does not fill a whole block comes out as zeros"
killed_by = "any-length"
explanation = """
The sequence is cut into whole blocks of `window` positions and the rest is never computed."""
hint = """
Look at the last outputs for 13 positions and a window of 4."""
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
    scores = scores.masked_fill(places < 0, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    output = torch.einsum("bhlw,bhlwd->bhld", weights, values)
    whole = length - length % window if length > window else length
    return output * (torch.arange(length, device=q.device) < whole).to(q.dtype).unsqueeze(-1)
