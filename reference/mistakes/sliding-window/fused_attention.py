'''
title = "The output comes from torch's fused attention"
killed_by = "written-from-scratch"
explanation = """
F.scaled_dot_product_attention gives the right numbers, but the exercise is to write what it \
does."""
hint = """
You have scores and weights already. Which product is left?"""
by_check = true
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
    seen = (places >= 0).unsqueeze(1)
    return torch.nn.functional.scaled_dot_product_attention(
        q.unsqueeze(-2), keys, values, seen
    ).squeeze(-2)
