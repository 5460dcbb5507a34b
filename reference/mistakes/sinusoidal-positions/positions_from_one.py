'''
title = "Positions are counted from 1"
killed_by = "first-row"
explanation = """
The first row belongs to position 0, where every sine is 0 and every cosine 1."""
hint = "What is the first row?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(1, length + 1, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
