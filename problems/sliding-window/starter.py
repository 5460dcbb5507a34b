# problem: sliding-window
"""Sliding-window attention: each query sees the last `window` positions, itself included."""
# B batch  H heads  L length  D head size

import math

import torch
from torch import Tensor


def sliding_window_attention(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """Return causal attention in which query i sees keys i − window + 1 … i.

    Args:
        q: Queries, (B, H, L, D).
        k: Keys, (B, H, L, D).
        v: Values, (B, H, L, D).
        window: How many keys a query sees, itself included; 1 or more, may exceed L.

    Returns:
        Output (B, H, L, D). No intermediate may grow faster than L.
    """
    # TODO
    raise NotImplementedError
