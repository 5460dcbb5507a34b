'''
title = "The exponentials overflow: the largest score is not subtracted"
killed_by = "large-logits"
explanation = """
exp of a score above 88 is infinite in float32, and inf / inf is NaN. Subtracting the largest \
score of a row first changes nothing in the result."""
hint = """
Which number may be added to all scores of a row without changing its softmax?"""
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
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
