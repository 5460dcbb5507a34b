'''
title = "Positions beyond the last token are ignored"
killed_by = "bad-positions"
explanation = """
The table is sliced to the length of x, and a slice never complains. Positions without \
tokens are an error of the caller's, and must raise."""
hint = "Call it with one position more than tokens."
'''

import torch


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError("an even D is needed")
    positions = positions[: x.shape[-2]]

    dtype = torch.promote_types(x.dtype, torch.get_default_dtype())
    exponents = torch.arange(0, x.shape[-1], 2, dtype=dtype, device=x.device) / x.shape[-1]
    angles = positions.to(dtype).unsqueeze(-1) * base**-exponents
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)

    first, second = x.chunk(2, dim=-1)
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.cat(turned, dim=-1)
