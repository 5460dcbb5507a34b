"""Grouped-query attention."""
# B batch  L length  H query heads  G key/value heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn


class GroupedQueryAttention(nn.Module):
    """Self-attention in which each key/value head serves H/G consecutive query heads.

    headₕ = softmax(qₕ k_gᵀ / √D) v_g with g = h // (H/G), and the output is
    Concat(head₀ … head_H₋₁) Wₒ. G = H is multi-head, G = 1 multi-query attention.

    Args:
        embed_dim: E, the width of input and output.
        num_heads: H, query heads; divides E.
        num_kv_heads: G, key/value heads; divides H.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`, or `num_kv_heads` does
            not divide `num_heads`.

    Source:
        Ainslie et al. 2023, arXiv:2305.13245, section 2.2.
    """

    def __init__(self, embed_dim: int, num_heads: int, num_kv_heads: int) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {embed_dim}")
        if num_kv_heads < 1 or num_heads % num_kv_heads:
            raise ValueError(
                f"{num_kv_heads} key/value heads do not divide {num_heads} query heads"
            )
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = embed_dim // num_heads
        kv_dim = num_kv_heads * self.head_dim
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, kv_dim)
        self.v_proj = nn.Linear(embed_dim, kv_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Attend from every position of `x` to every position that `mask` admits.

        Args:
            x: (B, L, E), in the dtype of the parameters.
            mask: Boolean, integer or float, (L, L), (B, 1, 1, L), (B, 1, L, L) or
                (B, H, L, L); a query may not attend where it is 0.

        Returns:
            (B, L, E), in the dtype of `x`. A query that may attend to no key at all
            gets NaN; other queries are not affected.

        Raises:
            ValueError: If `x` is not (B, L, E).
            RuntimeError: If `mask` does not broadcast to (B, H, L, L).
        """
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError(
                f"x has shape {tuple(x.shape)}; it needs (batch, length, {self.embed_dim})"
            )
        q = self._split(self.q_proj(x), self.num_heads)  # (B, H, L, D)
        k = self._split(self.k_proj(x), self.num_kv_heads)  # (B, G, L, D)
        v = self._split(self.v_proj(x), self.num_kv_heads)  # (B, G, L, D)
        queries_per_group = self.num_heads // self.num_kv_heads
        k = k.repeat_interleave(queries_per_group, dim=1)  # (B, H, L, D): k0 k0 k1 k1
        v = v.repeat_interleave(queries_per_group, dim=1)  # (B, H, L, D): v0 v0 v1 v1

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, L)
        if mask is not None:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v  # (B, H, L, D)
        output: Tensor = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, L, E)
        return output

    def _split(self, x: Tensor, heads: int) -> Tensor:
        x = x.reshape(*x.shape[:2], heads, self.head_dim)  # (B, L, heads, D)
        return x.transpose(1, 2)  # (B, heads, L, D)
