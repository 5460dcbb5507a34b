"""Self-attention with padding, a mask of the caller's, and causality."""
# B batch  L length  H heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn


class SelfAttention(nn.Module):
    """Concat(head₀ … head_H₋₁) Wₒ, where headₕ = softmax(qₕ kₕᵀ / √D + bias) vₕ.

    The bias is a float mask; it is −∞ where a boolean mask, the padding or causality blocks.
    Head h holds features h·D … h·D+D−1 of each projection.

    Args:
        embed_dim: E, the width of input and output.
        num_heads: H; divides E.
        dropout: Probability with which each weight is dropped in training.
        bias: Whether the four maps have biases.
        causal: Whether a position attends to itself and earlier positions only.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`.

    Source:
        Vaswani et al. 2017, arXiv:1706.03762v7, sections 3.2.2 and 3.2.3; dropout on the
        weights as in the authors' code, tensor2tensor.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        causal: bool = False,
    ) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {embed_dim}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.causal = causal
        self.dropout = nn.Dropout(dropout)
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def forward(
        self,
        x: Tensor,
        key_padding_mask: Tensor | None = None,
        attn_mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend from every position of `x` to every position that no mask blocks.

        Args:
            x: (B, L, E), in the dtype of the parameters.
            key_padding_mask: Boolean, (B, L); nothing attends to a position where it is True.
            attn_mask: (L, L), (B, 1, L, L) or (B, H, L, L). Boolean: a query may not attend
                where it is True. Float, in the dtype of `x`: added to the scaled scores.
            need_weights: Whether the weights are returned too.

        Returns:
            Output (B, L, E), and the weights (B, H, L, L) before dropout or None, in the dtype
            of `x`. A query that may attend to no key at all gets NaN; others are not affected.

        Raises:
            ValueError: If `x` is not (B, L, E).
            RuntimeError: If a mask does not fit the scores (B, H, L, L).
        """
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError(f"x has shape {tuple(x.shape)}; it needs (B, L, {self.embed_dim})")
        q = self._split(self.q_proj(x))  # (B, H, L, D)
        k = self._split(self.k_proj(x))  # (B, H, L, D)
        v = self._split(self.v_proj(x))  # (B, H, L, D)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, L)
        if attn_mask is not None and attn_mask.is_floating_point():
            scores = scores + attn_mask
        elif attn_mask is not None:
            scores = scores.masked_fill(attn_mask, -math.inf)
        if key_padding_mask is not None:
            padding = key_padding_mask[:, None, None, :]  # (B, 1, 1, L)
            scores = scores.masked_fill(padding, -math.inf)
        if self.causal:
            later = torch.ones_like(scores[0, 0], dtype=torch.bool).triu(1)  # (L, L)
            scores = scores.masked_fill(later, -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = self.dropout(weights) @ v  # (B, H, L, D)
        output = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, L, E)
        return output, weights if need_weights else None

    def _split(self, x: Tensor) -> Tensor:
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)  # (B, L, H, D)
        return x.transpose(1, 2)  # (B, H, L, D)
