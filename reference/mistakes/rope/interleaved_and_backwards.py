'''
title = "Neighbouring features are paired, and the rotation is by −θ"
killed_by = "pairs"
explanation = """
Two conventions differ at once: features 2i and 2i + 1 are paired instead of i and i + D/2, \
and the sine has the other sign, so that (1, 0) turns to (cos θ, −sin θ)."""
hint = """
At position 1, which feature does feature 0 mix with, and which way does (1, 0) turn for D = \
2?"""
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
    sin = -angles.sin().to(x.dtype)

    first, second = x[..., 0::2], x[..., 1::2]
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.stack(turned, dim=-1).flatten(-2)
