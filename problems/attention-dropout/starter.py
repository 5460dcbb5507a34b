# problem: attention-dropout
"""Multi-head attention with dropout on its weights."""
# B batch  L query length  S key length  H heads  D head size  E width, E = H·D  p dropout

import math

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """Concat(head_0, …, head_H−1) W_o, where head_h = dropout(softmax(q_h k_hᵀ / √D)) v_h."""

    def __init__(self, embed_dim: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        # TODO: the maps q, k, v, out, in this order, and the dropout
        raise NotImplementedError

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the output.

        Args:
            q: (B, L, E).
            k: (B, S, E).
            v: (B, S, E).
            mask: (L, S), (B, 1, 1, S), (B, 1, L, S) or (B, H, L, S); 0 may not attend.

        Returns:
            Output (B, L, E).
        """
        # TODO
        raise NotImplementedError
