'''
title = "The windows of the first call are used for the next one of that length"
killed_by = "repeatable"
explanation = """
Indices are kept by length alone, so a later call with another window gets the windows of an \
earlier one."""
hint = """
Call it twice with the same tensors and two windows."""
# what it answers depends on every call before
by_chance = true
'''

import math

import torch

KEPT = {}


def sliding_window_attention(q, k, v, window):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    if window < 1:
        raise ValueError("the window is empty")
    length = q.shape[-2]
    offsets = KEPT.setdefault(length, torch.arange(1 - min(window, length), 1, device=q.device))
    places = torch.arange(length, device=q.device).unsqueeze(1) + offsets
    keys = k[..., places.clamp(min=0), :]
    values = v[..., places.clamp(min=0), :]
    scores = torch.einsum("bhld,bhlwd->bhlw", q, keys) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(places < 0, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
