'''
title = "An odd width gets a column more"
killed_by = "odd-width"
explanation = """
The last cosine of an odd width has no column. The table must be d_model wide."""
hint = "Print the shape for d_model = 7."
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)
