'''
title = "Part of the work is done on the CPU"
killed_by = "gpu-device"
explanation = """
The numbers are right, but they travel to the CPU and back: the GPU waits, and the CPU does its \
work."""
hint = "Which line leaves the device of the input, and what for?"
device = "cuda"
by_check = true
says = "numbers to the CPU"
'''

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q is {q.shape[-1]} wide and k {k.shape[-1]}; both need width D")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"k holds {k.shape[-2]} positions and v {v.shape[-2]}; both need S")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError(
            f"leading dimensions differ: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}"
        )
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
    weights = torch.softmax(scores.cpu(), dim=-1).to(q.device)
    return (weights @ v, weights)
