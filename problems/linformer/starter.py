# problem: linformer
"""Self-attention over keys and values of a compressed length."""
# B batch  L length  K compressed length  H heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn


class LinformerSelfAttention(nn.Module):
    """Multi-head self-attention; keys and values are projected from L positions to K."""

    def __init__(self, embed_dim: int, num_heads: int, seq_len: int, proj_len: int) -> None:
        super().__init__()
        # TODO: the maps q, k, v, then the length maps of keys and values, then out
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Return the output, (B, L, E).

        Args:
            x: (B, L, E), where L is `seq_len`.
        """
        # TODO
        raise NotImplementedError
