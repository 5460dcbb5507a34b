"""Causal self-attention with a key/value cache."""
# B batch  L new positions  T cached positions  S all positions, S = T + L
# H heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class CachedSelfAttention(nn.Module):
    """Causal multi-head self-attention that keeps the keys and values it has computed.

    headₕ = softmax(qₕ kₕᵀ / √D) vₕ, where the query at position p attends to positions
    0 … p, cached or new; the output is Concat(head₀ … head_H₋₁) Wₒ. The module holds no
    state: all of it is in the cache that a call returns.

    Args:
        embed_dim: E, the width of input and output.
        num_heads: H; divides E.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`.

    Source:
        Vaswani et al. 2017, arXiv:1706.03762v7, sections 3.2.2 and 3.2.3; the
        incremental form: Shazeer 2019, arXiv:1911.02150, section 2.4.
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

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Attend from the new positions `x` to the cached ones and to themselves.

        Args:
            x: The new positions, (B, L, E), in the dtype of the parameters.
            cache: Keys and values of the positions before `x`, (B, H, T, D) each, as an
                earlier call returned them; None where there are none. Never changed.

        Returns:
            Output (B, L, E), and a new cache: keys and values of all positions so far,
            (B, H, T + L, D) each. All in the dtype of `x`.

        Raises:
            ValueError: If `x` is not (B, L, E), or `cache` does not fit it.
        """
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError(
                f"x has shape {tuple(x.shape)}; it needs (batch, length, {self.embed_dim})"
            )
        q = self._split(self.q_proj(x))  # (B, H, L, D)
        k = self._split(self.k_proj(x))  # (B, H, L, D)
        v = self._split(self.v_proj(x))  # (B, H, L, D)
        if cache is not None:
            past_k, past_v = cache
            self._check_cache(past_k, past_v, batch=x.shape[0])
            k = torch.cat((past_k, k), dim=2)  # (B, H, S, D)
            v = torch.cat((past_v, v), dim=2)  # (B, H, S, D)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, S)
        scores = scores.masked_fill(_future(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v  # (B, H, L, D)
        output = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, L, E)
        return output, (k, v)

    def _split(self, x: Tensor) -> Tensor:
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)  # (B, L, H, D)
        return x.transpose(1, 2)  # (B, H, L, D)

    def _check_cache(self, k: Tensor, v: Tensor, batch: int) -> None:
        cached = k.shape[2] if k.ndim == 4 else 0
        expected = (batch, self.num_heads, cached, self.head_dim)
        if k.shape != expected or v.shape != expected:
            raise ValueError(
                f"cached k has shape {tuple(k.shape)} and v {tuple(v.shape)}; "
                f"both need ({batch}, {self.num_heads}, T, {self.head_dim})"
            )


def _future(scores: Tensor) -> Tensor:
    """Return (L, S), True where a key lies after its query; the last L keys are new."""
    new, total = scores.shape[-2:]
    positions = torch.ones(new, total, dtype=torch.bool, device=scores.device)
    # Query i stands at position T + i, so the diagonal moves right by T = S − L.
    return positions.triu(diagonal=total - new + 1)
