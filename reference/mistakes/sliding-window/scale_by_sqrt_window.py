'''
title = "The scores are divided by the root of the window"
killed_by = "scale"
explanation = """
The divisor is √window. The spread of a score comes from the D products in it, not from how many \
keys there are."""
hint = """
Over how many products is one score summed?"""
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
    scores = torch.einsum("bhld,bhlwd->bhlw", q, keys) / math.sqrt(window)
    scores = scores.masked_fill(places < 0, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
