"""Self-attention with one fused projection for queries, keys and values."""
# B batch  L length  H heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn


class FusedSelfAttention(nn.Module):
    """Multi-head self-attention whose queries, keys and values come from one map E → 3E.

    [q, k, v] = x W + b, one product with W = [W_q, W_k, W_v] side by side, then
    headₕ = softmax(qₕ kₕᵀ / √D) vₕ, and the output is Concat(head₀ … head_H₋₁) Wₒ. The
    3E features are laid out (3, H, D): all queries first, then keys, then values, and
    head h holds features h·D … h·D+D−1 of each.

    Args:
        embed_dim: E, the width of input and output.
        num_heads: H; divides E.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`.

    Source:
        Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.2, with the three maps of
        the input stacked into one.
    """

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {embed_dim}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.qkv_proj = nn.Linear(embed_dim, 3 * embed_dim)
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
        qkv = self.qkv_proj(x)  # (B, L, 3E), the one product
        qkv = qkv.reshape(*x.shape[:2], 3, self.num_heads, self.head_dim)  # (B, L, 3, H, D)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # (B, H, L, D) each

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, L)
        if mask is not None:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v  # (B, H, L, D)
        output: Tensor = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, L, E)
        return output
