# problem: decoder-block
"""One block of the Transformer's decoder."""
# B batch  L length  S memory length  H heads  D head size  E width, E = H·D
# F width of the feed-forward layer

import math

import torch
from torch import Tensor, nn


class DecoderBlock(nn.Module):
    """Causal self-attention, cross-attention, feed-forward layer; each LayerNorm(x + …)."""

    def __init__(self, embed_dim: int, num_heads: int, ffn_dim: int) -> None:
        super().__init__()
        # TODO: self-attention q, k, v, out, norm; cross-attention q, k, v, out, norm;
        # the two maps of the feed-forward layer, norm
        raise NotImplementedError

    def forward(self, x: Tensor, memory: Tensor, memory_mask: Tensor | None = None) -> Tensor:
        """Attend to the past, then to the memory, then transform each position.

        Args:
            x: (B, L, E).
            memory: (B, S, E), the output of the encoder.
            memory_mask: (B, 1, 1, S); 0 may not be attended to.

        Returns:
            (B, L, E).
        """
        # TODO
        raise NotImplementedError
