# problem: encoder-block
"""One block of the Transformer's encoder."""
# B batch  L length  H heads  D head size  E width, E = H·D  F width of the feed-forward layer

import math

import torch
from torch import Tensor, nn


class EncoderBlock(nn.Module):
    """y = LayerNorm(x + Attention(x)), then LayerNorm(y + FFN(y))."""

    def __init__(self, embed_dim: int, num_heads: int, ffn_dim: int) -> None:
        super().__init__()
        # TODO: q, k, v, out, first norm, the two maps of the feed-forward layer, second norm
        raise NotImplementedError

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Let the positions attend to each other, then transform each of them.

        Args:
            x: (B, L, E).
            mask: (L, L) or (B, 1, 1, L); 0 may not attend.

        Returns:
            (B, L, E).
        """
        # TODO
        raise NotImplementedError
