'''
title = "Cosine and sine are exchanged"
killed_by = "position-zero"
explanation = """
A rotation by 0 must change nothing, so what multiplies a feature itself is the cosine."""
hint = "At position 0, what are cosine and sine, and what should come out?"
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
    turned = (first * sin - second * cos, second * sin + first * cos)
    return torch.cat(turned, dim=-1)
