'''
title = "The last column of an odd width stays 0"
killed_by = "odd-width"
explanation = """
The number of pairs is rounded down, so that the last column is never filled. It is the sine \
of the last pair."""
hint = "Which i belongs to column 6 of 7?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    table = pairs.flatten(-2)[:, :d_model]
    table[:, d_model // 2 * 2 :] = 0.0
    return table
