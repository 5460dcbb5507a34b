# problem: talking-heads
"""Talking-heads attention."""
# B batch  L length  H heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn


class TalkingHeadsAttention(nn.Module):
    """Concat(head_0, …, head_H−1) W_o, where the heads mix their logits and their weights.

    head_h = weights_h v_h, weights = P_w · softmax(P_l · (q kᵀ / √D))
    """

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        # TODO: the maps q, k, v, then p_l and p_w across the heads, then out
        raise NotImplementedError

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the output and the attention weights.

        Args:
            x: (B, L, E).
            mask: (L, L), (B, 1, 1, L), (B, 1, L, L) or (B, H, L, L); 0 may not attend.

        Returns:
            Output (B, L, E) and the weights after P_w (B, H, L, L).
        """
        # TODO
        raise NotImplementedError
