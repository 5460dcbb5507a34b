'''
title = "The angles count whole turns: there is a 2π too many"
killed_by = "frequencies"
explanation = """
The angle is the position times the frequency, in radians. With 2π in it the first pair is \
the same at every position."""
hint = "What stands in the first column at position 1?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = 2 * torch.pi * positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
