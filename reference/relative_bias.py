"""Self-attention with a learned bias for every head and clipped distance."""
# B batch  L length  H heads  D head size  E width, E = H·D  m largest distance told apart

import math

import torch
from torch import Tensor, nn


class RelativeAttention(nn.Module):
    """Multi-head self-attention whose scores depend on the distance of key and query.

    scoreₕ(i, j) = qᵢ · kⱼ / √D + table[clip(j − i, −m, m) + m, h]; headₕ is the softmax of
    scoreₕ over j times vₕ, and the output is Concat(head₀ … head_H₋₁) Wₒ. Row m of the table
    stands for a position itself, row 0 for all keys at least m before the query, and the last,
    2m, for all at least m after it.

    Args:
        embed_dim: E, the width of input and output.
        num_heads: H; divides E.
        max_distance: m, at least 1; the table has 2m + 1 rows.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`.

    Source:
        Clipped distances: Shaw et al. 2018, arXiv:1803.02155, section 3.2. One number per
        head, added to the scores: Raffel et al. 2020, arXiv:1910.10683, section 2.1.
    """

    def __init__(self, embed_dim: int, num_heads: int, max_distance: int) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {embed_dim}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.max_distance = max_distance
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.bias_table = nn.Parameter(torch.zeros(2 * max_distance + 1, num_heads))

    def forward(self, x: Tensor) -> Tensor:
        """Attend from every position of `x` to every other and to itself.

        Args:
            x: (B, L, E), in the dtype of the parameters.

        Returns:
            (B, L, E), in the dtype of `x`.

        Raises:
            ValueError: If `x` is not (B, L, E).
        """
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError(
                f"x has shape {tuple(x.shape)}; it needs (batch, length, {self.embed_dim})"
            )
        q = self._split(self.q_proj(x))  # (B, H, L, D)
        k = self._split(self.k_proj(x))  # (B, H, L, D)
        v = self._split(self.v_proj(x))  # (B, H, L, D)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, L)
        bias = self.bias_table[self._rows(x)]  # (L, L, H)
        scores = scores + bias.permute(2, 0, 1)  # (B, H, L, L)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v  # (B, H, L, D)
        merged = heads.transpose(1, 2).flatten(2)  # (B, L, E)
        return self.out_proj(merged)

    def _rows(self, x: Tensor) -> Tensor:
        """Return (L, L), the row of the table for query i and key j."""
        positions = torch.arange(x.shape[1], device=x.device)  # (L,)
        distances = positions[None, :] - positions[:, None]  # (L, L): j − i
        return distances.clamp(-self.max_distance, self.max_distance) + self.max_distance

    def _split(self, x: Tensor) -> Tensor:
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)  # (B, L, H, D)
        return x.transpose(1, 2)  # (B, H, L, D)
