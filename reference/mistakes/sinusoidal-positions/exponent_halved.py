'''
title = "The exponent is i/d_model instead of 2i/d_model"
killed_by = "frequencies"
explanation = """
There are d_model/2 pairs, so the exponents 2i/d_model run from 0 to almost 1. With \
i/d_model the slowest wave is far too short."""
hint = "Which exponent has the last pair for d_model = 8?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0 ** -(exponents / 2)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
