'''
title = "The exponents run from 0 to 1, the end included"
killed_by = "frequencies"
explanation = """
linspace(0, 1, D/2), or a division by D − 2, makes the slowest frequency 1/base. Here the \
exponents are 2i/D, and the last one stays below 1."""
hint = "For D = 4, by which angle does the second pair turn at position 1: 1/100 or 1/10000?"
'''

import torch


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError("an even D is needed")
    if positions.shape != x.shape[-2:-1]:
        raise ValueError("one position for each token")

    dtype = torch.promote_types(x.dtype, torch.get_default_dtype())
    exponents = torch.linspace(0, 1, x.shape[-1] // 2, dtype=dtype, device=x.device)
    angles = positions.to(dtype).unsqueeze(-1) * base**-exponents
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)

    first, second = x.chunk(2, dim=-1)
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.cat(turned, dim=-1)
