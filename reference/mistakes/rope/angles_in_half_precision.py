'''
title = "The angles are computed in the dtype of x"
killed_by = "half-precision-far-on"
explanation = """
bfloat16 has 8 bits: position 1001 becomes 1000, and the angle is off by whole radians. \
Compute angles in float32, and only then bring cosine and sine to the dtype of x."""
hint = "Print torch.tensor([1000, 1001]).to(torch.bfloat16)."
'''

import torch


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError("an even D is needed")
    if positions.shape != x.shape[-2:-1]:
        raise ValueError("one position for each token")

    dtype = torch.promote_types(x.dtype, torch.get_default_dtype())
    exponents = torch.arange(0, x.shape[-1], 2, dtype=dtype, device=x.device) / x.shape[-1]
    angles = positions.to(x.dtype).unsqueeze(-1) * (base**-exponents).to(x.dtype)
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)

    first, second = x.chunk(2, dim=-1)
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.cat(turned, dim=-1)
