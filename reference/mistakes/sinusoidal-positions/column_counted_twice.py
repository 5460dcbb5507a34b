'''
title = "The exponent is 2j/d_model with the column j itself"
killed_by = "frequencies"
explanation = """
The i of the paper counts pairs, not columns. With the column in its place, exponents run up \
to almost 2, and sine and cosine of a pair have different ones."""
hint = "Which exponent has the last column for d_model = 8?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0 ** -(2 * exponents)
    shifted = positions * 10000.0 ** -(2 * exponents + 2 / d_model)
    pairs = torch.stack([angles.sin(), shifted.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
