# problem: sinusoidal-positions
"""The sinusoidal position encoding of the original Transformer."""

import math

import numpy as np
import torch
from torch import Tensor


def positional_encoding(length: int, d_model: int) -> Tensor:
    """Return the table of encodings: sines in even columns, cosines in odd ones.

    Args:
        length: How many positions, from 0.
        d_model: How many features.

    Returns:
        A float32 tensor or a NumPy array, (length, d_model).
    """
    # TODO
    raise NotImplementedError
