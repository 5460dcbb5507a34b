# problem: dual-attention
"""Attention to content and to relative position in one score, as in Transformer-XL."""
# B batch  H heads  L queries  S keys, S ≥ L  D head size

import math

import torch
from torch import Tensor


def dual_attention(
    q: Tensor, k: Tensor, v: Tensor, r: Tensor, content_bias: Tensor, position_bias: Tensor
) -> Tensor:
    """Return causal attention whose scores weigh content and distance, each with a bias.

    Args:
        q: Queries, (B, H, L, D): the last L of S positions.
        k: Keys, (B, H, S, D).
        v: Values, (B, H, S, D).
        r: Projected embeddings of the distances S − 1, …, 1, 0, in that order, (H, S, D).
        content_bias: Added to the queries that meet keys, (H, D).
        position_bias: Added to the queries that meet distances, (H, D).

    Returns:
        Output (B, H, L, D). No intermediate may hold a vector for each pair of positions.
    """
    # TODO
    raise NotImplementedError
