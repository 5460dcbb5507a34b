# problem: mhsa
"""Multi-head self-attention."""
# B batch  L length  H heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn


class MultiHeadSelfAttention(nn.Module):
    """Concat(head_0, …, head_H−1) W_o, where head_h = softmax(q_h k_hᵀ / √D) v_h."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        # TODO: the maps q, k, v, out, in this order
        raise NotImplementedError

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the output and the attention weights.

        Args:
            x: (B, L, E).
            mask: (L, L), (B, 1, 1, L), (B, 1, L, L) or (B, H, L, L); 0 may not attend.

        Returns:
            Output (B, L, E) and weights (B, H, L, L).
        """
        # TODO
        raise NotImplementedError
