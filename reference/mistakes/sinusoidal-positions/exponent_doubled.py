'''
title = "The exponent is 4i/d_model instead of 2i/d_model"
killed_by = "frequencies"
explanation = """
arange(0, d_model, 2) holds 2i already; multiplying by 2 again, or dividing by d_model/2, \
counts it twice."""
hint = "Which exponent has the last pair for d_model = 8?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0 ** -(2 * exponents)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
