"""The sinusoidal position encoding of the original Transformer."""

import torch
from torch import Tensor


def positional_encoding(length: int, d_model: int) -> Tensor:
    """Return the table PE of encodings of positions 0 … length − 1.

    With pos for the position, and i = 0, 1, … for the pairs of features:

        PE[pos, 2i]     = sin(pos / 10000^(2i/d_model))
        PE[pos, 2i + 1] = cos(pos / 10000^(2i/d_model))

    Args:
        length: How many positions.
        d_model: How many features; the last pair of an odd width has a sine alone.

    Returns:
        Table (length, d_model), in the default dtype, float32.

    Source:
        Vaswani et al. 2017, arXiv:1706.03762v7, section 3.5.
    """
    dtype = torch.get_default_dtype()
    positions = torch.arange(length, dtype=dtype).unsqueeze(-1)  # (length, 1)
    exponents = torch.arange(0, d_model, 2, dtype=dtype) / d_model  # (⌈d_model/2⌉,)
    base = 10000.0
    angles = positions * base**-exponents  # (length, ⌈d_model/2⌉)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (length, ⌈d_model/2⌉, 2)
    return pairs.flatten(-2)[:, :d_model]  # (length, d_model)
