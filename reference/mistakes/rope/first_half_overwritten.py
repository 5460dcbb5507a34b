'''
title = "The first half is overwritten before the second one is computed"
killed_by = "norms"
explanation = """
A half is a view: once its new values are written, the old ones that the second half needs \
are gone."""
hint = "Which value of `first` goes into the second half, the old or the new one?"
'''

import torch


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError("an even D is needed")
    if positions.shape != x.shape[-2:-1]:
        raise ValueError("one position for each token")

    dtype = torch.promote_types(x.dtype, torch.get_default_dtype())
    exponents = torch.arange(0, x.shape[-1], 2, dtype=dtype, device=x.device) / x.shape[-1]
    angles = positions.to(dtype).unsqueeze(-1) * base**-exponents
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)

    first, second = x.chunk(2, dim=-1)
    first = first * cos - second * sin
    turned = (first, second * cos + first * sin)
    return torch.cat(turned, dim=-1)
