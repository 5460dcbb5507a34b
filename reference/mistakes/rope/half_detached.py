'''
title = "One half is cut from the graph"
killed_by = "gradients"
explanation = """
One of the halves that are put together by rotate-half is detached or made anew, so that a \
part of the gradient is missing."""
hint = "Compare x.grad with the gradient turned back by the same angles."
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
    turned = (first * cos - second.detach() * sin, second * cos + first.detach() * sin)
    return torch.cat(turned, dim=-1)
