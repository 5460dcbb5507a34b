'''
title = "Positions are counted from the first one"
killed_by = "positions-from-anywhere"
explanation = """
The first position is subtracted. Within one call products stay right, but a query turned in \
this step meets keys that were turned in another."""
hint = """
A cached key was turned at position 3, the new query is at position 4. What if the query \
counts from itself?"""
'''

import torch


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError("an even D is needed")
    if positions.shape != x.shape[-2:-1]:
        raise ValueError("one position for each token")

    dtype = torch.promote_types(x.dtype, torch.get_default_dtype())
    exponents = torch.arange(0, x.shape[-1], 2, dtype=dtype, device=x.device) / x.shape[-1]
    angles = (positions - positions[0]).to(dtype).unsqueeze(-1) * base**-exponents
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)

    first, second = x.chunk(2, dim=-1)
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.cat(turned, dim=-1)
