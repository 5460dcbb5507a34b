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
