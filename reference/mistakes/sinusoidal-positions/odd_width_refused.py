'''
title = "An odd width is refused"
killed_by = "odd-width"
explanation = """
The contract takes any width from 1 up. The last pair of an odd one has a sine and no \
cosine."""
hint = "Which column of 7 is the last sine?"
'''

import torch


def positional_encoding(length, d_model):
    if d_model % 2:
        raise ValueError("an even width is needed")
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
