'''
title = "The exponent is i/D instead of 2i/D"
killed_by = "frequencies"
explanation = """
There are D/2 frequencies, so the exponents 2i/D run from 0 to almost 1. With i/D the \
slowest pair turns far too fast."""
hint = "Which exponent has the last pair for D = 64?"
'''

import torch


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError("an even D is needed")
    if positions.shape != x.shape[-2:-1]:
        raise ValueError("one position for each token")

    dtype = torch.promote_types(x.dtype, torch.get_default_dtype())
    exponents = torch.arange(0, x.shape[-1], 2, dtype=dtype, device=x.device) / x.shape[-1]
    angles = positions.to(dtype).unsqueeze(-1) * base ** -(exponents / 2)
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)

    first, second = x.chunk(2, dim=-1)
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.cat(turned, dim=-1)
