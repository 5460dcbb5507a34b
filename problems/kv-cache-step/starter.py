# problem: kv-cache-step
"""Causal self-attention with a key/value cache."""
# B batch  L new positions  T cached positions  H heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class CachedSelfAttention(nn.Module):
    """Causal multi-head self-attention; position p attends to positions 0 … p."""

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        # TODO: the maps q, k, v, out, in this order
        raise NotImplementedError

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Return the output for the new positions, and a cache of all positions so far.

        Args:
            x: The new positions, (B, L, E).
            cache: Keys and values of the earlier positions, (B, H, T, D) each, or None.

        Returns:
            Output (B, L, E), and keys and values (B, H, T + L, D) each.
        """
        # TODO
        raise NotImplementedError
