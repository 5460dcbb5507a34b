'''
title = "Only the first half of the features is turned"
killed_by = "frequencies"
explanation = """
The rotation acts on the first D/2 features, the rest is passed through. Some models do that \
(partial rotary); here all D features turn."""
hint = "Change the last feature at position 5. Which outputs change?"
'''

import torch


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError("an even D is needed")
    if positions.shape != x.shape[-2:-1]:
        raise ValueError("one position for each token")

    dtype = torch.promote_types(x.dtype, torch.get_default_dtype())
    whole = x
    x = x[..., : x.shape[-1] // 4 * 2]
    exponents = torch.arange(0, x.shape[-1], 2, dtype=dtype, device=x.device) / max(1, x.shape[-1])
    angles = positions.to(dtype).unsqueeze(-1) * base**-exponents
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)

    first, second = x.chunk(2, dim=-1)
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.cat([*turned, whole[..., x.shape[-1] :]], dim=-1)
