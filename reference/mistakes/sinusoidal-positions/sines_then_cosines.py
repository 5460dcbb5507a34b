'''
title = "Right under another layout: all sines first, then all cosines"
killed_by = "first-row"
explanation = """
The columns hold the right numbers in another order, as Tensor2Tensor has them. Here sines \
stand in even columns and cosines in odd ones, as in the paper."""
hint = "What is the row of position 0?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.cat([angles.sin(), angles.cos()], dim=-1)
    return pairs[:, :d_model]
