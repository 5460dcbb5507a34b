'''
title = "The table ends at 5000 rows"
killed_by = "long-table"
explanation = """
A table of a fixed size is made and cut to the length. Where the length is larger, slicing \
does not complain, and rows are missing."""
hint = "Ask for 6000 positions and print the shape."
[variants]
replace = "5000"
by = ["1024", "2048", "4096", "8192", "10000"]
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(5000, dtype=dtype).unsqueeze(-1)[:length]
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
