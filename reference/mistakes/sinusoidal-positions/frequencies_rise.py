'''
title = "The position is multiplied by 10000^(2i/d_model), not divided"
killed_by = "frequencies"
explanation = """
Later pairs are to be slower: their wavelength grows from 2π to almost 10000 · 2π. With a \
product they get faster."""
hint = "For d_model = 4, what is the angle of the second pair at position 1?"
'''

import torch


def positional_encoding(length, d_model):
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return pairs.flatten(-2)[:, :d_model]
