'''
title = "All L² scores are computed, and most are thrown away"
killed_by = "memory"
explanation = """
The numbers are right, but a mask over (L, L) scores, or an L × L mask alone, takes four times the \
memory for twice the length. A window of w needs L · w scores."""
hint = """
How many scores does one query need? Gather just these keys, or work in blocks."""
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
    places = torch.arange(length, device=q.device)
    distance = places.unsqueeze(1) - places
    scores = torch.einsum("bhld,bhsd->bhls", q, k) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill((distance < 0) | (distance >= window), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhls,bhsd->bhld", weights, v)
