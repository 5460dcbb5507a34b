# problem: mla
"""Causal self-attention with a latent cache."""
# B batch  L new positions  T cached positions  H heads  D head size  E width, E = H·D  C latent

import math

import torch
from torch import Tensor, nn


class MultiHeadLatentAttention(nn.Module):
    """Causal multi-head attention; keys and values are made from a cached latent."""

    def __init__(self, embed_dim: int, num_heads: int, latent_dim: int) -> None:
        super().__init__()
        # TODO: the maps q (E → E), down (E → C), up_k and up_v (C → E), out (E → E)
        raise NotImplementedError

    def forward(self, x: Tensor, cache: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the output for the new positions, and the latents of all positions so far.

        Args:
            x: The new positions, (B, L, E).
            cache: The latents of the earlier positions, (B, T, C), or None.

        Returns:
            Output (B, L, E), and latents (B, T + L, C).
        """
        # TODO
        raise NotImplementedError
