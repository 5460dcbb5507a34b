'''
title = "A table of an earlier call is returned, however long it is"
killed_by = "repeatable"
explanation = """
The longest table so far is kept for each width, and returned without being cut to the \
length that was asked for. What a function returns may depend on its arguments alone."""
hint = "Ask for 7 rows, then for 3 of the same width."
by_chance = true
'''

import torch

_TABLES = {}


def positional_encoding(length, d_model):
    if d_model in _TABLES and len(_TABLES[d_model]) >= length:
        return _TABLES[d_model]
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model
    angles = positions * 10000.0**-exponents
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)
    _TABLES[d_model] = pairs.flatten(-2)[:, :d_model]
    return _TABLES[d_model]
