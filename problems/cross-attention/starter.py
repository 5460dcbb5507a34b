# problem: cross-attention
"""Multi-head cross-attention."""
# B batch  L query length  S context length  H heads  D head size  E width, E = H·D
# Ec width of the context (context_dim)

import math

import torch
from torch import Tensor, nn


class CrossAttention(nn.Module):
    """Concat(head_0, …, head_H−1) W_o, where head_h = softmax(q_h k_hᵀ / √D) v_h."""

    def __init__(self, embed_dim: int, num_heads: int, context_dim: int) -> None:
        super().__init__()
        # TODO: the maps q, k, v, out, in this order
        raise NotImplementedError

    def forward(self, x: Tensor, context: Tensor, context_mask: Tensor | None = None) -> Tensor:
        """Return the output.

        Args:
            x: (B, L, E), gives the queries.
            context: (B, S, Ec), gives keys and values.
            context_mask: (B, S); 1 may be attended to, 0 is padding.

        Returns:
            Output (B, L, E).
        """
        # TODO
        raise NotImplementedError
