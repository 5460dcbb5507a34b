'''
title = "The positions are not used: tokens are counted from 0"
killed_by = "positions-from-anywhere"
explanation = """
The angles come from arange(L). A step with a cache, or a sequence that was cut, has \
positions of its own, and they are passed in."""
hint = "One token at position 57: which angle should the first pair turn by?"
'''

import torch


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError("an even D is needed")
    if positions.shape != x.shape[-2:-1]:
        raise ValueError("one position for each token")

    dtype = torch.promote_types(x.dtype, torch.get_default_dtype())
    exponents = torch.arange(0, x.shape[-1], 2, dtype=dtype, device=x.device) / x.shape[-1]
    angles = torch.arange(x.shape[-2], dtype=dtype).unsqueeze(-1) * base**-exponents
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)

    first, second = x.chunk(2, dim=-1)
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.cat(turned, dim=-1)
