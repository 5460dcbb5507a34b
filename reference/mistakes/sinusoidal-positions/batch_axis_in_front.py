'''
title = "A batch axis of 1 is put in front"
killed_by = "output-shape"
explanation = """
The table has shape (1, length, d_model). Adding it to a batch broadcasts without that axis \
as well; the contract wants (length, d_model)."""
hint = "Print the shape."
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[None, :, :d_model]
