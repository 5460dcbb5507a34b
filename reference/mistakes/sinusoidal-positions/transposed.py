'''
title = "The table lies on its side: (d_model, length)"
killed_by = "output-shape"
explanation = """
Rows are to be positions and columns features, so that the table can be added to x of shape \
(B, length, d_model)."""
hint = "Print the shape for length ≠ d_model."
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model].T
