# problem: decoder-attention
"""Causal self-attention of a decoder: grouped queries, rotary positions, cache and window."""
# B batch  L new positions  T cached positions
# H query heads  G key/value heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class DecoderAttention(nn.Module):
    """Causal self-attention with G shared key/value heads, RoPE and a cache."""

    def __init__(
        self, embed_dim: int, num_heads: int, num_kv_heads: int, window: int | None = None
    ) -> None:
        super().__init__()
        # TODO: the maps q (E → E), k and v (E → G·D), out (E → E), in this order
        raise NotImplementedError

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Return the output for the new positions, and a cache of all positions so far.

        Args:
            x: The new positions, (B, L, E).
            cache: Turned keys, and values, of the earlier positions, (B, G, T, D) each, or None.

        Returns:
            Output (B, L, E), and turned keys, and values, (B, G, T + L, D) each.
        """
        # TODO
        raise NotImplementedError
