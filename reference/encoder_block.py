"""One block of the Transformer's encoder."""
# B batch  L length  H heads  D head size  E width, E = H·D  F width of the feed-forward layer

import math

import torch
from torch import Tensor, nn


class EncoderBlock(nn.Module):
    """y = LayerNorm(x + Attention(x)), then LayerNorm(y + FFN(y)): Post-LN.

    FFN(y) = max(0, y W₁ + b₁) W₂ + b₂, for each position by itself (equation 2). Attention is
    multi-head self-attention: Concat(head₀ … head_H₋₁) Wₒ, headₕ = softmax(qₕ kₕᵀ / √D) vₕ.

    Args:
        embed_dim: E, the width of input and output.
        num_heads: H; divides E.
        ffn_dim: F, the width between the two maps of the feed-forward layer.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`.

    Source:
        Vaswani et al. 2017, arXiv:1706.03762v7, sections 3.1, 3.2.2 and 3.3; LayerNorm by
        Ba et al. 2016, arXiv:1607.06450.
    """

    def __init__(self, embed_dim: int, num_heads: int, ffn_dim: int) -> None:
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
        self.norm1 = nn.LayerNorm(embed_dim)
        self.ffn1 = nn.Linear(embed_dim, ffn_dim)
        self.ffn2 = nn.Linear(ffn_dim, embed_dim)
        self.norm2 = nn.LayerNorm(embed_dim)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Let the positions attend to each other, then transform each of them.

        Args:
            x: (B, L, E), in the dtype of the parameters.
            mask: Boolean, integer or float, (L, L) or (B, 1, 1, L); a position may not attend
                where it is 0.

        Returns:
            (B, L, E), in the dtype of `x`. A position that may attend to nothing at all gets
            NaN; other positions are not affected.

        Raises:
            ValueError: If `x` is not (B, L, E).
            RuntimeError: If `mask` does not broadcast to (B, H, L, L).
        """
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError(f"x has shape {tuple(x.shape)}; (batch, length, {self.embed_dim})")
        attended = self._attend(x, mask)  # (B, L, E)
        x = self.norm1(x + attended)

        hidden = torch.relu(self.ffn1(x))  # (B, L, F)
        transformed = self.ffn2(hidden)  # (B, L, E)
        return self.norm2(x + transformed)

    def _attend(self, x: Tensor, mask: Tensor | None) -> Tensor:
        q = self._split(self.q_proj(x))  # (B, H, L, D)
        k = self._split(self.k_proj(x))  # (B, H, L, D)
        v = self._split(self.v_proj(x))  # (B, H, L, D)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, L)
        if mask is not None:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v  # (B, H, L, D)
        return self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, L, E)

    def _split(self, x: Tensor) -> Tensor:
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)  # (B, L, H, D)
        return x.transpose(1, 2)  # (B, H, L, D)
