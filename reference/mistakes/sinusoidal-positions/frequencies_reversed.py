'''
title = "The frequencies are in reverse order"
killed_by = "frequencies"
explanation = """
The first pair is the fastest: columns 0 and 1 are sin(pos) and cos(pos)."""
hint = "What stands in the first column at position 1?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0 ** -exponents.flip(0)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
