"""Multi-head cross-attention: queries from one sequence, keys and values from another."""
# B batch  L query length  S context length  H heads  D head size  E width, E = H·D
# Ec width of the context (context_dim)

import math

import torch
from torch import Tensor, nn


class CrossAttention(nn.Module):
    """Concat(head₀ … head_H₋₁) Wₒ, where headₕ = softmax(qₕ kₕᵀ / √D + M) vₕ.

    q is projected from x, k and v from the context. M is −∞ where the context is padding, else 0.
    Head h holds features h·D … h·D+D−1 of each projection.

    Args:
        embed_dim: E, the width of x and of the output.
        num_heads: H; divides E.
        context_dim: Ec, the width of the context.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`.

    Source:
        Vaswani et al. 2017, arXiv:1706.03762v7, section 3.2.3, "encoder-decoder attention", with
        the heads of section 3.2.2. There Ec = E.
    """

    def __init__(self, embed_dim: int, num_heads: int, context_dim: int) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {embed_dim}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.context_dim = context_dim
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(context_dim, embed_dim)
        self.v_proj = nn.Linear(context_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(
        self, x: Tensor, context: Tensor, context_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend from `x` to `context`.

        Args:
            x: (B, L, E), in the dtype of the parameters.
            context: (B, S, Ec), same dtype.
            context_mask: Boolean, integer or float, (B, S); 0 is padding.

        Returns:
            Output (B, L, E) and weights (B, H, L, S). An item whose context is nothing but
            padding gets NaN.

        Raises:
            ValueError: If the shapes do not fit each other or the layer.
        """
        self._check(x, context, context_mask)
        q = self._split(self.q_proj(x))  # (B, H, L, D)
        k = self._split(self.k_proj(context))  # (B, H, S, D)
        v = self._split(self.v_proj(context))  # (B, H, S, D)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, S)
        if context_mask is not None:
            padding = (context_mask == 0)[:, None, None]  # (B, 1, 1, S)
            scores = scores.masked_fill(padding, -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v  # (B, H, L, D)
        output = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, L, E)
        return output, weights

    def _split(self, x: Tensor) -> Tensor:
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)  # (B, ·, H, D)
        return x.transpose(1, 2)  # (B, H, ·, D)

    def _check(self, x: Tensor, context: Tensor, context_mask: Tensor | None) -> None:
        widths = (("x", x, self.embed_dim), ("context", context, self.context_dim))
        for name, tensor, width in widths:
            if tensor.ndim != 3 or tensor.shape[-1] != width:
                raise ValueError(
                    f"{name} has shape {tuple(tensor.shape)}; it needs (batch, length, {width})"
                )
        if len(x) != len(context):
            raise ValueError(f"x holds {len(x)} items and context {len(context)}; both need B")
        if context_mask is not None and context_mask.shape != context.shape[:2]:
            raise ValueError(
                f"context_mask has shape {tuple(context_mask.shape)}; "
                f"it needs {tuple(context.shape[:2])}"
            )
