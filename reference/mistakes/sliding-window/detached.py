'''
title = "The weights are cut from the graph"
killed_by = "gradients"
explanation = """
The weights are detached before they meet the values: the output is right, but no gradient reaches \
the queries and keys, and they never learn."""
hint = """
Call backward on the output and look at q.grad."""
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
    weights = torch.softmax(scores, dim=-1).detach()
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
