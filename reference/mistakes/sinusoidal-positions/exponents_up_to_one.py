'''
title = "The exponents run from 0 to 1, the end included"
killed_by = "frequencies"
explanation = """
A division by d_model − 2, or by the number of pairs less one, makes the slowest frequency \
1/10000; Tensor2Tensor and fairseq have it so. The formula divides by d_model."""
hint = "For d_model = 4, what is the angle of the second pair at position 1: 1/100 or 1/10000?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.linspace(0, 1, (d_model + 1) // 2, dtype=dtype)
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
