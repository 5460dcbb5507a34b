'''
title = "Queries and keys of different width are cut to fit"
killed_by = "bad-widths"
explanation = """
Input that cannot be right gets an answer. A mismatch of widths is a bug of the caller, who \
should hear of it."""
hint = """
What should the caller learn who passes keys of another layer by mistake?"""
'''

import math

import torch


def sliding_window_attention(q, k, v, window):
    width = min(q.shape[-1], k.shape[-1])
    q, k = q[..., :width], k[..., :width]
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
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
