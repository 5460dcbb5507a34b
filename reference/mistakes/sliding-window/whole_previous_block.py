'''
title = "The whole block before is seen, not only the part in the window"
killed_by = "every-window"
explanation = """
Each query sees its own block up to itself, and all of the block before. Within these two blocks \
the condition j > i − window is still needed."""
hint = """
The last query of a block: how many keys does it see?"""
'''

import math

import torch


def sliding_window_attention(q, k, v, window):
    if not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v differ in shape")
    if window < 1:
        raise ValueError("the window is empty")
    length = q.shape[-2]
    offsets = torch.arange(1 - min(2 * window, length), 1, device=q.device)
    places = torch.arange(length, device=q.device).unsqueeze(1) + offsets
    keys = k[..., places.clamp(min=0), :]
    values = v[..., places.clamp(min=0), :]
    scores = torch.einsum("bhld,bhlwd->bhlw", q, keys) / math.sqrt(q.shape[-1])
    block = torch.arange(length, device=q.device).unsqueeze(1) // window
    scores = scores.masked_fill((places < 0) | (places // window < block - 1), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
