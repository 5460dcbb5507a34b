'''
title = "The softmax's float32 weights are not converted back"
killed_by = "bfloat16"
explanation = """
softmax(dtype=torch.float32) returns float32. A bfloat16 or float64 tensor of values cannot be \
multiplied with it until it has their dtype."""
hint = """
Print the dtypes of the two factors of the last product."""
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
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32)
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
