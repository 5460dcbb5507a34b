# problem: pre-norm-block
"""One block of a decoder-only Transformer as in Llama: Pre-Norm, RMSNorm, GQA, RoPE, SwiGLU."""
# B batch  L length  H query heads  G key/value heads  D head size
# E width, E = H·D  F width of the feed-forward layer

import math

import torch
from torch import Tensor, nn


class PreNormBlock(nn.Module):
    """y = x + Attention(RMSNorm₁(x)), then y + FFN(RMSNorm₂(y)), without biases."""

    def __init__(self, embed_dim: int, num_heads: int, num_kv_heads: int, ffn_dim: int) -> None:
        super().__init__()
        # TODO: first norm, q, k, v, out, second norm, gate, up, down, in this order
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Let each position attend to those up to it, then transform each by itself.

        Args:
            x: (B, L, E).

        Returns:
            (B, L, E).
        """
        # TODO
        raise NotImplementedError
