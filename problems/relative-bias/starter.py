# problem: relative-bias
"""Self-attention with a relative position bias."""
# B batch  L length  H heads  D head size  E width, E = H·D  m largest distance told apart

import math

import torch
from torch import Tensor, nn


class RelativeAttention(nn.Module):
    """Multi-head self-attention with a learned bias per head and clipped distance."""

    def __init__(self, embed_dim: int, num_heads: int, max_distance: int) -> None:
        super().__init__()
        # TODO: the maps q, k, v, out, and a table of 2 · max_distance + 1 rows
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Return the output, (B, L, E).

        Args:
            x: (B, L, E).
        """
        # TODO
        raise NotImplementedError
