'''
title = "On a GPU the inputs are rounded to half precision"
killed_by = "gpu-float32"
explanation = """
Half precision is faster on a GPU and has three digits. A caller who passes float32 asked for \
seven."""
hint = "In which dtype does the caller want the answer to be right?"
device = "cuda"
by_chance = true
'''

import math

import torch


def sliding_window_attention(q, k, v, window):
    if not q.shape == k.shape == v.shape:
        raise ValueError(
            f"q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} must have one shape"
        )
    if window < 1:
        raise ValueError(f"a window of {window} shows a query nothing; 1 is the smallest")
    q, k, v = (x.half().to(x.dtype) if x.is_cuda else x for x in (q, k, v))
    length = q.shape[-2]
    offsets = torch.arange(1 - min(window, length), 1, device=q.device)
    places = torch.arange(length, device=q.device).unsqueeze(1) + offsets
    keys = k[..., places.clamp(min=0), :]
    values = v[..., places.clamp(min=0), :]
    scores = torch.einsum("bhld,bhlwd->bhlw", q, keys) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(places < 0, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhlw,bhlwd->bhld", weights, values)
