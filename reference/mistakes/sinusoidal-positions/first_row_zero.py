'''
title = "The row of position 0 is set to zero"
killed_by = "first-row"
explanation = """
Some tables reserve row 0 for a padding token. Here row 0 is position 0: 0, 1, 0, 1, …"""
hint = "What is the cosine of 0?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    pairs[0] = 0.0
    return pairs.flatten(-2)[:, :d_model]
