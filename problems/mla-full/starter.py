# problem: mla-full
"""Causal self-attention with a cache of latents and of one turned key per position."""
# B batch  L new positions  T cached positions
# H heads  D head size  E width, E = H·D  Q query latent  C latent  R rotary width

import math

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class RotaryLatentAttention(nn.Module):
    """Causal multi-head latent attention with compressed queries and a shared rotary key."""

    def __init__(
        self, embed_dim: int, num_heads: int, query_latent_dim: int, latent_dim: int, rope_dim: int
    ) -> None:
        super().__init__()
        # TODO: the maps q_down (E → Q), q_up (Q → E), q_rope (Q → H·R), down (E → C),
        # k_rope (E → R), k_up and v_up (C → E), out (E → E)
        raise NotImplementedError

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Return the output for the new positions, and the cache of all positions so far.

        Args:
            x: The new positions, (B, L, E).
            cache: Latents (B, T, C) and turned keys (B, T, R) of the earlier positions, or None.

        Returns:
            Output (B, L, E), and latents (B, T + L, C) with turned keys (B, T + L, R).
        """
        # TODO
        raise NotImplementedError
