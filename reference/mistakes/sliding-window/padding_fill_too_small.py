'''
title = "Places outside the window get a constant that is not low enough"
killed_by = "low-scores"
explanation = """
exp of a number like −10 is small and not 0. Where the scores inside the window lie lower still, \
the places outside take all the weight."""
hint = """
What if every score inside the window is −500?"""
[variants]
replace = "-10.0"
by = ["0.0", "-1.0", "-5.0", "-20.0", "-50.0", "-99.0", "-100.0"]
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
    scores = scores.masked_fill(places < 0, -10.0)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
