'''
title = "Neighbours are paired, and the results put back as two halves"
killed_by = "pairs"
explanation = """
Features 2i and 2i + 1 are taken as a pair, but the turned ones are concatenated: pairs \
taken apart one way must be put together the same way."""
hint = "At position 0 nothing turns. Does x come back unchanged?"
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

    first, second = x[..., 0::2], x[..., 1::2]
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.cat(turned, dim=-1)
