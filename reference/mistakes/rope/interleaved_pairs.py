'''
title = "Right under the other convention: neighbouring features 2i and 2i + 1 are paired"
killed_by = "pairs"
explanation = """
The paper pairs neighbours, and so does GPT-J; here features i and i + D/2 make a pair, as \
in GPT-NeoX and most Llama checkpoints. Either works alone, but weights trained with one are \
useless with the other."""
hint = "At position 1 the fastest pair turns by 1. Which feature does feature 0 mix with?"
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
    return torch.stack(turned, dim=-1).flatten(-2)
