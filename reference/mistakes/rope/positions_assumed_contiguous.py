'''
title = "Only the first position is used, the others are counted on from it"
killed_by = "positions-in-any-order"
explanation = """
Positions may have gaps, repeat or come in any order, as with packed sequences or evicted \
cache entries. Each token has the position that it is given."""
hint = "Try positions (5, 2, 9)."
'''

import torch


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError("an even D is needed")
    if positions.shape != x.shape[-2:-1]:
        raise ValueError("one position for each token")

    dtype = torch.promote_types(x.dtype, torch.get_default_dtype())
    exponents = torch.arange(0, x.shape[-1], 2, dtype=dtype, device=x.device) / x.shape[-1]
    angles = (positions[0] + torch.arange(x.shape[-2])).to(dtype).unsqueeze(-1) * base**-exponents
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)

    first, second = x.chunk(2, dim=-1)
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.cat(turned, dim=-1)
