'''
title = "The table is rounded to half precision"
killed_by = "output-shape"
explanation = """
The table is to be float32: half precision leaves three digits of each number."""
hint = "Print the dtype."
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model].half()
