'''
title = "view on the inputs wants contiguous memory"
killed_by = "non-contiguous"
explanation = """
Batch and heads are folded with view, which raises where the input was transposed before, as it \
is after splitting heads."""
hint = """
Which function does what view does, and copies where it has to?"""
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
    keys = k.view(-1, *k.shape[2:])[:, places.clamp(min=0), :].view(*k.shape[:3], -1, k.shape[3])
    values = v[..., places.clamp(min=0), :]
    scores = torch.einsum("bhld,bhlwd->bhlw", q, keys) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(places < 0, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
