'''
title = "The sequence is cut into blocks, and no query sees beyond its own"
killed_by = "every-window"
explanation = """
Blocks of `window` positions attend to themselves. The first query of a block sees one key, and \
not the `window` keys that end with it: a sliding window crosses the borders of blocks."""
hint = """
How many keys does the first query of the second block see, and how many should it?"""
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
    block = torch.arange(length, device=q.device).unsqueeze(1) // window
    scores = scores.masked_fill((places < 0) | (places // window != block), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
