# problem: padding-mask
"""Multi-head self-attention over a padded batch."""
# B batch  L length  H heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """Concat(head_0, …, head_H−1) W_o, where head_h = softmax(q_h k_hᵀ / √D) v_h over tokens."""

    def __init__(self, hidden_size: int, num_heads: int) -> None:
        super().__init__()
        # TODO: the maps q, k, v, out, in this order
        raise NotImplementedError

    def forward(self, hidden_state: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """Return the output.

        Args:
            hidden_state: (B, L, E).
            attention_mask: (B, L); 1 is a token, 0 is padding.

        Returns:
            Output (B, L, E). What stands at padded positions does not matter.
        """
        # TODO
        raise NotImplementedError
