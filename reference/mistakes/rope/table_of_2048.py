'''
title = "The table of angles ends at position 2047"
killed_by = "far-positions"
explanation = """
A table is made for a fixed number of positions, and a later one is out of its range. Angles \
can be computed for just the positions that are given."""
hint = "Call it with one token at position 5000."
'''

import torch


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError("an even D is needed")
    if positions.shape != x.shape[-2:-1]:
        raise ValueError("one position for each token")

    dtype = torch.promote_types(x.dtype, torch.get_default_dtype())
    exponents = torch.arange(0, x.shape[-1], 2, dtype=dtype, device=x.device) / x.shape[-1]
    angles = torch.arange(2048, dtype=dtype).unsqueeze(-1) * base**-exponents
    angles = angles[positions]
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)

    first, second = x.chunk(2, dim=-1)
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.cat(turned, dim=-1)
