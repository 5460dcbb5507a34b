'''
title = "The base is not 10000"
killed_by = "frequencies"
explanation = """
The base of the frequencies is another constant. The formula says 10000, which makes the \
longest wave almost 10000 · 2π positions long."""
hint = "Count the zeros."
[variants]
replace = "1000.0"
by = ["100.0", "100000.0", "1024.0", "500000.0", "1000000.0", "500.0", "2.718281828459045"]
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 1000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
