"""Causal self-attention of a decoder: grouped queries, rotary positions, cache and window."""
# B batch  L new positions  T cached positions  S all positions, S = T + L
# H query heads  G key/value heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]
BASE = 10_000.0


class DecoderAttention(nn.Module):
    """Causal self-attention that keeps the turned keys, and the values, of G shared heads.

    headₕ = softmax(R_p qₕ (R k_g)ᵀ / √D) v_g with g = h // (H/G), where R_p turns features i
    and i + D/2 by p · 10000^(−2i/D) at position p. The query at position p attends to positions
    0 … p, or p − window + 1 … p; the output is Concat(head₀ … head_H₋₁) Wₒ. New positions go on
    from the length of the cache. The module holds no state: all of it is in the cache.

    Args:
        embed_dim: E, the width of input and output.
        num_heads: H, query heads; divides E, and E / H is even.
        num_kv_heads: G, key/value heads; divides H.
        window: How many positions a query sees, itself included; None for all up to itself.

    Raises:
        ValueError: If these sizes do not fit together.

    Sources:
        Jiang et al. 2023, arXiv:2310.06825, section 2, for the layer; Ainslie et al. 2023,
        arXiv:2305.13245, section 2.2, for the groups; Su et al. 2021, arXiv:2104.09864,
        equations 15 and 34, for the rotation, with the pairs of GPT-NeoX (arXiv:2204.06745).
    """

    def __init__(
        self, embed_dim: int, num_heads: int, num_kv_heads: int, window: int | None = None
    ) -> None:
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
        if self.head_dim % 2:
            raise ValueError(f"{self.head_dim} features of a head cannot be paired")
        self.window = window
        kv_dim = num_kv_heads * self.head_dim
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, kv_dim)
        self.v_proj = nn.Linear(embed_dim, kv_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Attend from the new positions `x` to the cached ones and to themselves.

        Args:
            x: The new positions, (B, L, E), in the dtype of the parameters.
            cache: Turned keys, and values, of the positions before `x`, (B, G, T, D) each, as
                an earlier call returned them; None where there are none. Never changed.

        Returns:
            Output (B, L, E), and a new cache: turned keys, and values, of all positions so
            far, (B, G, T + L, D) each. All in the dtype of `x`.

        Raises:
            ValueError: If `x` is not (B, L, E), or `cache` does not fit it.
        """
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError(
                f"x has shape {tuple(x.shape)}; it needs (batch, length, {self.embed_dim})"
            )
        cached = 0 if cache is None else cache[0].shape[2]
        positions = torch.arange(cached, cached + x.shape[1], device=x.device)
        q = self._split(self.q_proj(x), self.num_heads)  # (B, H, L, D)
        k = self._split(self.k_proj(x), self.num_kv_heads)  # (B, G, L, D)
        v = self._split(self.v_proj(x), self.num_kv_heads)  # (B, G, L, D)
        q = _turned(q, positions)
        k = _turned(k, positions)
        if cache is not None:
            past_k, past_v = cache
            self._check_cache(past_k, past_v, batch=x.shape[0])
            k = torch.cat((past_k, k), dim=2)  # (B, G, S, D)
            v = torch.cat((past_v, v), dim=2)  # (B, G, S, D)
        kept = (k, v)
        queries_per_group = self.num_heads // self.num_kv_heads
        k = k.repeat_interleave(queries_per_group, dim=1)  # (B, H, S, D): k0 k0 k1 k1
        v = v.repeat_interleave(queries_per_group, dim=1)  # (B, H, S, D): v0 v0 v1 v1

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, S)
        scores = scores.masked_fill(_future(scores), -math.inf)
        if self.window is not None:
            scores = scores.masked_fill(_left_behind(scores, self.window), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v  # (B, H, L, D)
        output = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, L, E)
        return output, kept

    def _split(self, x: Tensor, heads: int) -> Tensor:
        x = x.reshape(*x.shape[:2], heads, self.head_dim)  # (B, L, heads, D)
        return x.transpose(1, 2)  # (B, heads, L, D)

    def _check_cache(self, k: Tensor, v: Tensor, batch: int) -> None:
        cached = k.shape[2] if k.ndim == 4 else 0
        expected = (batch, self.num_kv_heads, cached, self.head_dim)
        if k.shape != expected or v.shape != expected:
            raise ValueError(
                f"cached k has shape {tuple(k.shape)} and v {tuple(v.shape)}; "
                f"both need ({batch}, {self.num_kv_heads}, T, {self.head_dim})"
            )


def _turned(x: Tensor, positions: Tensor) -> Tensor:
    """Return x, (B, heads, L, D), turned by the angles of its positions (L,)."""
    # never in half precision: bfloat16 cannot tell position 1000 from 1001
    dtype = torch.get_default_dtype()
    exponents = torch.arange(0, x.shape[-1], 2, dtype=dtype, device=x.device) / x.shape[-1]
    angles = positions.to(dtype).unsqueeze(-1) * BASE**-exponents  # (L, D/2)
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)  # (B, heads, L, D/2) each
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def _future(scores: Tensor) -> Tensor:
    """Return (L, S), True where a key lies after its query; the last L keys are new."""
    new, total = scores.shape[-2:]
    positions = torch.ones(new, total, dtype=torch.bool, device=scores.device)
    # Query i stands at position T + i, so the diagonal moves right by T = S − L.
    return positions.triu(diagonal=total - new + 1)


def _left_behind(scores: Tensor, window: int) -> Tensor:
    """Return (L, S), True where a key lies `window` positions or more before its query."""
    new, total = scores.shape[-2:]
    everywhere = torch.ones(new, total, dtype=torch.bool, device=scores.device)
    return everywhere.tril(diagonal=total - new - window)
