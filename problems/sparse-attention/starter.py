# problem: sparse-attention
"""Sparse attention: which pairs may attend, and attention among them."""
# B batch  H heads  L length  D head size

import math

import torch
from torch import Tensor


def sparse_mask(length: int, window: int, stride: int, num_global: int) -> Tensor:
    """Return which query i may attend to which key j; not causal.

    Args:
        length: L, the number of positions.
        window: Pairs with |i − j| ≤ window attend; 0 or more.
        stride: Pairs with i − j divisible by it attend; 1 or more.
        num_global: Pairs in which i or j is among the first so many attend; 0 or more.

    Returns:
        Boolean (L, L), True may attend.
    """
    # TODO
    raise NotImplementedError


def sparse_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """Return softmax(q kᵀ / √D) v over the pairs that the mask allows.

    Args:
        q: Queries, (B, H, L, D).
        k: Keys, (B, H, L, D).
        v: Values, (B, H, L, D).
        mask: Boolean, (L, L), True may attend.

    Returns:
        Output (B, H, L, D).
    """
    # TODO
    raise NotImplementedError
