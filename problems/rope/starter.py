# problem: rope
"""Rotary position embedding."""
# B batch  H heads  L length  D head size

import torch
from torch import Tensor


def apply_rope(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Return x with features i and i + D/2 turned by the angle position · base^(−2i/D).

    Args:
        x: Queries or keys, (B, H, L, D), D even.
        positions: Position of each of the L tokens, (L,), integers.
        base: What the frequencies are powers of.

    Returns:
        The turned x, (B, H, L, D).
    """
    # TODO
    raise NotImplementedError
