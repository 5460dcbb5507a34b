'''
title = "The table is divided by √d_model"
killed_by = "unit-circle"
explanation = """
The table holds sines and cosines as they are. Where √d_model occurs in the paper it \
multiplies the embeddings of the tokens, not this table."""
hint = "What is the largest number in the table?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model] / d_model**0.5
