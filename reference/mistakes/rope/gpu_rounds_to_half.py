'''
title = "On a GPU the inputs are rounded to half precision"
killed_by = "gpu-values"
explanation = """
Half precision is faster on a GPU and has three digits. A caller who passes float32 asked for \
seven."""
hint = "In which dtype does the caller want the answer to be right?"
device = "cuda"
by_chance = true
'''

import torch


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError(f"{x.shape[-1]} features cannot be paired; an even D is needed")
    if positions.shape != x.shape[-2:-1]:
        raise ValueError(f"positions of shape {tuple(positions.shape)} for {x.shape[-2]} tokens")
    x = x.half().to(x.dtype) if x.is_cuda else x
    dtype = torch.promote_types(x.dtype, torch.get_default_dtype())
    exponents = torch.arange(0, x.shape[-1], 2, dtype=dtype, device=x.device) / x.shape[-1]
    angles = positions.to(dtype).unsqueeze(-1) * base ** (-exponents)
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.cat(turned, dim=-1)
