'''
title = "Every column is a sine"
killed_by = "first-row"
explanation = """
Odd columns hold cosines. With sines alone position 0 would be all zeros, and a shift by k \
would be no linear map of the row."""
hint = "What is the row of position 0?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.sin()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
