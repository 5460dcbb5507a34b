# problem: mqa
"""Multi-query attention."""
# B batch  L length  H query heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn


class MultiQueryAttention(nn.Module):
    """Self-attention in which all query heads share one key head and one value head."""

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        # TODO: the maps q, k, v, out, in this order; k and v have D outputs
        raise NotImplementedError

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the output.

        Args:
            x: (B, L, E).
            mask: (L, L), (B, 1, 1, L), (B, 1, L, L) or (B, H, L, L); 0 may not attend.

        Returns:
            (B, L, E).
        """
        # TODO
        raise NotImplementedError
