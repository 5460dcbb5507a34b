'''
title = "The caller's queries are scaled in place"
killed_by = "inputs-unchanged"
explanation = """
q /= √D writes into the tensor that was passed in. The caller's queries shrink with every call, \
and autograd refuses it for a leaf."""
hint = """
Keep a copy of q, call the function, and compare."""
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
    q /= math.sqrt(q.shape[-1])
    scores = torch.einsum("bhld,bhlwd->bhlw", q, keys)
    scores = scores.masked_fill(places < 0, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
