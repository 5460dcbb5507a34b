"""Linformer: self-attention over keys and values of a compressed length."""
# B batch  L length  K compressed length  H heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn


class LinformerSelfAttention(nn.Module):
    """Multi-head self-attention in which keys and values are projected along the length.

    k̄ = P_k k and v̄ = P_v v have K positions instead of L; headₕ = softmax(qₕ k̄ₕᵀ / √D) v̄ₕ, and
    the output is Concat(head₀ … head_H₋₁) Wₒ. All heads share P_k, and P_v. Scores are (L, K),
    so time and memory grow with L·K instead of L².

    Args:
        embed_dim: E, the width of input and output.
        num_heads: H; divides E.
        seq_len: L, the length of every input.
        proj_len: K, the length to which keys and values are compressed.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`.

    Source:
        Wang et al. 2020, arXiv:2006.04768, section 4, equation 7; projections shared between
        heads ("headwise sharing"), here with a bias.
    """

    def __init__(self, embed_dim: int, num_heads: int, seq_len: int, proj_len: int) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {embed_dim}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.k_length_proj = nn.Linear(seq_len, proj_len)
        self.v_length_proj = nn.Linear(seq_len, proj_len)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor) -> Tensor:
        """Attend from every position of `x` to K mixtures of all positions.

        Args:
            x: (B, L, E), in the dtype of the parameters.

        Returns:
            (B, L, E), in the dtype of `x`.

        Raises:
            ValueError: If `x` has other than three axes, or is not E wide.
            RuntimeError: If `x` has another length than `seq_len`.
        """
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError(
                f"x has shape {tuple(x.shape)}; it needs (batch, length, {self.embed_dim})"
            )
        k = self.k_length_proj(self.k_proj(x).transpose(1, 2))  # (B, E, K)
        v = self.v_length_proj(self.v_proj(x).transpose(1, 2))  # (B, E, K)
        q = self._split(self.q_proj(x))  # (B, H, L, D)
        k = self._split(k.transpose(1, 2))  # (B, H, K, D)
        v = self._split(v.transpose(1, 2))  # (B, H, K, D)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, K)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v  # (B, H, L, D)
        merged = heads.transpose(1, 2).flatten(2)  # (B, L, E)
        return self.out_proj(merged)

    def _split(self, x: Tensor) -> Tensor:
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)  # (B, length, H, D)
        return x.transpose(1, 2)  # (B, H, length, D)
