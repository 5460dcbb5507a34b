'''
title = "Right under another convention: sines, then cosines, exponents up to 1"
killed_by = "first-row"
explanation = """
The table of Tensor2Tensor and fairseq: all sines before all cosines, and a division by the \
number of pairs less one. The paper interleaves them and divides by d_model."""
hint = "What is the row of position 0, and what is the angle of the second pair for d_model = 4?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.linspace(0, 1, (d_model + 1) // 2, dtype=dtype)
    angles = positions * 10000.0**-exponents
    pairs = torch.cat([angles.sin(), angles.cos()], dim=-1)
    return pairs[:, :d_model]
