'''
title = "Sine and cosine of a pair have different frequencies"
killed_by = "unit-circle"
explanation = """
The exponent is j/d_model with the column j itself, so that odd columns lie between two even \
ones. Columns 2i and 2i + 1 share the exponent 2i/d_model."""
hint = "Write down the exponents of columns 0, 1, 2 and 3. Which are equal?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    shifted = positions * 10000.0 ** -(exponents + 1 / d_model)
    pairs = torch.stack([angles.sin(), shifted.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
