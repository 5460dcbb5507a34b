"""Multi-query attention."""
# B batch  L length  H query heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn


class MultiQueryAttention(nn.Module):
    """Self-attention in which all H query heads share one key head and one value head.

    headₕ = softmax(qₕ kᵀ / √D) v, and the output is Concat(head₀ … head_H₋₁) Wₒ. Query
    head h holds features h·D … h·D+D−1 of the q projection; k and v have D features.

    Args:
        embed_dim: E, the width of input and output.
        num_heads: H, query heads; divides E.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`.

    Source:
        Shazeer 2019, arXiv:1911.02150, section 3.
    """

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {embed_dim}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, self.head_dim)
        self.v_proj = nn.Linear(embed_dim, self.head_dim)
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
        q = self._split(self.q_proj(x))  # (B, H, L, D)
        k = self.k_proj(x).unsqueeze(1)  # (B, 1, L, D): one head for all queries
        v = self.v_proj(x).unsqueeze(1)  # (B, 1, L, D)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, L)
        if mask is not None:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v  # (B, H, L, D)
        output: Tensor = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, L, E)
        return output

    def _split(self, x: Tensor) -> Tensor:
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)  # (B, L, H, D)
        return x.transpose(1, 2)  # (B, H, L, D)
