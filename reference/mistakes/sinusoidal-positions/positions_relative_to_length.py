'''
title = "Positions are divided by the length"
killed_by = "prefix"
explanation = """
Positions run from 0 to 1 whatever the length, so that the same position is encoded \
differently in sentences of different length."""
hint = "Does position 3 have the same row in a table of 5 and in one of 50?"
[variants]
replace = "/ length"
by = ["/ max(1, length - 1)"]
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    positions = positions / length
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
