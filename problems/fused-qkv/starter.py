# problem: fused-qkv
"""Self-attention with one fused projection for queries, keys and values."""
# B batch  L length  H heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn


class FusedSelfAttention(nn.Module):
    """Multi-head self-attention whose queries, keys and values come from one map E → 3E."""

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        # TODO: two maps, qkv (E → 3E) and out (E → E), in this order
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
