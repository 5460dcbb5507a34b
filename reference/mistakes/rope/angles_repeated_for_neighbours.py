'''
title = "The angles are laid out for neighbours, the features paired as halves"
killed_by = "pairs"
explanation = """
Each angle is repeated twice in a row, which fits pairs 2i and 2i + 1. Features i and i + \
D/2 then turn by different angles, and that is no rotation."""
hint = """
For D = 4, write the four angles of a row under the four features. Do both of a pair have \
the same?"""
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
    angles = angles.repeat_interleave(2, dim=-1)
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)

    first, second = x.chunk(2, dim=-1)
    other = torch.cat([-second, first], dim=-1)
    return x * cos + other * sin
