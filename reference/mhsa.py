"""Multi-head self-attention."""
# B batch  L length  H heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn


class MultiHeadSelfAttention(nn.Module):
    """Every position attends to every position of the same sequence, in H heads.

    headₕ = softmax(qₕ kₕᵀ / √D) vₕ with q, k, v all projected from one input, and the
    output is Concat(head₀ … head_H₋₁) Wₒ. Head h holds features h·D … h·D+D−1 of each
    projection.

    Args:
        embed_dim: E, the width of input and output.
        num_heads: H; divides E.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`.

    Source:
        Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.2; self-attention as in 3.2.3.
    """

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {embed_dim}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from every position of `x` to every position that `mask` admits.

        Args:
            x: (B, L, E), in the dtype of the parameters.
            mask: Boolean, integer or float, (L, L), (B, 1, 1, L), (B, 1, L, L) or
                (B, H, L, L); a query may not attend where it is 0.

        Returns:
            Output (B, L, E) and weights (B, H, L, L), in the dtype of `x`. A query that
            may attend to no key at all gets NaN; other queries are not affected.

        Raises:
            ValueError: If `x` is not (B, L, E).
            RuntimeError: If `mask` does not broadcast to (B, H, L, L).
        """
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError(
                f"x has shape {tuple(x.shape)}; it needs (batch, length, {self.embed_dim})"
            )
        q = self._split(self.q_proj(x))  # (B, H, L, D)
        k = self._split(self.k_proj(x))  # (B, H, L, D)
        v = self._split(self.v_proj(x))  # (B, H, L, D)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, L)
        if mask is not None:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v  # (B, H, L, D)
        output = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, L, E)
        return output, weights

    def _split(self, x: Tensor) -> Tensor:
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)  # (B, L, H, D)
        return x.transpose(1, 2)  # (B, H, L, D)
