'''
title = "The exponents are whole numbers: all pairs have one frequency"
killed_by = "frequencies"
explanation = """
2 * i // d_model is 0 for every pair, so that each column is the sine or cosine of the \
position itself. The division must not be rounded down."""
hint = "Print the exponents."
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) // d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
