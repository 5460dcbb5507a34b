'''
title = "The window reaches one position too far back: window + 1 keys"
killed_by = "every-window"
explanation = """
Query i sees i − window … i. That is a distance of at most `window`, and one key more than the \
window has room for: itself counts too."""
hint = """
With window = 3, list the keys of query 9 and count them."""
'''

import math

import torch


def sliding_window_attention(q, k, v, window):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    if window < 1:
        raise ValueError("the window is empty")
    length = q.shape[-2]
    offsets = torch.arange(-min(window, length), 1, device=q.device)
    places = torch.arange(length, device=q.device).unsqueeze(1) + offsets
    keys = k[..., places.clamp(min=0), :]
    values = v[..., places.clamp(min=0), :]
    scores = torch.einsum("bhld,bhlwd->bhlw", q, keys) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(places < 0, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
