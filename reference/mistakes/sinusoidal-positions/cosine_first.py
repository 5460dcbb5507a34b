'''
title = "Cosines stand in even columns, sines in odd ones"
killed_by = "first-row"
explanation = """
The two are exchanged: even columns hold sines, so that the row of position 0 begins with 0."""
hint = "What is the row of position 0?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.cos(), angles.sin()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
