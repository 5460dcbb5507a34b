'''
title = "The pairs are counted from i = 1"
killed_by = "frequencies"
explanation = """
Pair 0 has the exponent 0, so the first two columns are sin(pos) and cos(pos)."""
hint = "What stands in the first column at position 1?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(2, d_model + 2, 2, dtype=dtype)[: (d_model + 1) // 2] / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
