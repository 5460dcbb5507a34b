'''
title = "An odd width is accepted, and a feature left as it is"
killed_by = "bad-width"
explanation = """
The last feature of an odd width has no partner and is passed through. Such a width must \
raise."""
hint = "Call it with D = 7."
'''

import torch


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        whole = apply_rope(x[..., :-1], positions, base)
        return torch.cat([whole, x[..., -1:]], dim=-1)
    if positions.shape != x.shape[-2:-1]:
        raise ValueError("one position for each token")

    dtype = torch.promote_types(x.dtype, torch.get_default_dtype())
    exponents = torch.arange(0, x.shape[-1], 2, dtype=dtype, device=x.device) / x.shape[-1]
    angles = positions.to(dtype).unsqueeze(-1) * base**-exponents
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)

    first, second = x.chunk(2, dim=-1)
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.cat(turned, dim=-1)
