'''
title = "The heads come back on the CPU"
killed_by = "gpu-device"
explanation = """
torch.empty makes a tensor in the CPU's memory unless it is told of a device, and copying into \
it brings everything there."""
hint = "Which device does torch.empty choose?"
device = "cuda"
by_check = true
says = "its answer is on the CPU"
'''

import torch


def split_heads(x, num_heads):
    if x.ndim != 3:
        raise ValueError(f"x has shape {tuple(x.shape)}; split_heads needs (B, L, E)")
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError(f"{num_heads} heads do not divide a width of {width}")
    x = x.reshape(batch, length, num_heads, width // num_heads)
    heads = torch.empty(batch, num_heads, length, width // num_heads, dtype=x.dtype)
    return heads.copy_(x.transpose(1, 2))


def merge_heads(x):
    if x.ndim != 4:
        raise ValueError(f"x has shape {tuple(x.shape)}; merge_heads needs (B, H, L, D)")
    batch, num_heads, length, head_dim = x.shape
    x = x.transpose(1, 2)
    return x.reshape(batch, length, num_heads * head_dim)
