# problem: self-attention
"""Self-attention with padding, a mask of the caller's, and causality."""
# B batch  L length  H heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn


class SelfAttention(nn.Module):
    """Concat(head_0, …, head_H−1) W_o, where head_h = softmax(q_h k_hᵀ / √D + bias) v_h."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        causal: bool = False,
    ) -> None:
        super().__init__()
        # TODO: the maps q, k, v, out, in this order
        raise NotImplementedError

    def forward(
        self,
        x: Tensor,
        key_padding_mask: Tensor | None = None,
        attn_mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the output, and the attention weights if they are wanted.

        Args:
            x: (B, L, E).
            key_padding_mask: Boolean, (B, L); True is padding, which nothing attends to.
            attn_mask: (L, L), (B, 1, L, L) or (B, H, L, L). Boolean: True blocks. Float: added
                to the scaled scores.
            need_weights: Whether to return the weights.

        Returns:
            Output (B, L, E), and weights (B, H, L, L) or None.
        """
        # TODO
        raise NotImplementedError
