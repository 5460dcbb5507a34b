"""Multi-head latent attention whole: compressed queries, and a rotary key that all heads share."""
# B batch  L new positions  T cached positions  S all positions, S = T + L
# H heads  D head size  E width, E = H·D  Q query latent  C latent  R rotary width

import math

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]
BASE = 10_000.0


class RotaryLatentAttention(nn.Module):
    """Causal self-attention that keeps a latent, and one turned key, of each position.

    c_Q = x W_DQ, qₕ = c_Q W_UQ, qₕᴿ = R_p (c_Q W_QR); c = x W_DKV, kₕ = c W_UK, vₕ = c W_UV, and
    kᴿ = R_p (x W_KR) for all heads together, where R_p turns features i and i + R/2 by
    p · 10000^(−2i/R) at position p. headₕ = softmax((qₕ kₕᵀ + qₕᴿ kᴿᵀ) / √(D + R)) vₕ over the
    positions 0 … p, and the output is Concat(head₀ … head_H₋₁) W_O. New positions go on from the
    length of the cache. The module holds no state: all of it is in the cache.

    Keys and values of all positions are made anew in every call. The scores can do without them:
    qₕ kₕᵀ = (qₕ W_UKₕᵀ) cᵀ, and likewise W_UV can move behind the weighted sum.

    Args:
        embed_dim: E, the width of input and output.
        num_heads: H; divides E.
        query_latent_dim: Q, the width of what queries are made from.
        latent_dim: C, the width of what keys and values are made from.
        rope_dim: R, the features of a head that know positions; even.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`, or `rope_dim` is odd.

    Sources:
        DeepSeek-AI 2024, "DeepSeek-V2", arXiv:2405.04434, section 2.1, without the norms of both
        latents; Su et al. 2021, arXiv:2104.09864, equations 15 and 34, for the rotation, with the
        pairs of GPT-NeoX (arXiv:2204.06745).
    """

    def __init__(
        self, embed_dim: int, num_heads: int, query_latent_dim: int, latent_dim: int, rope_dim: int
    ) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {embed_dim}")
        if rope_dim % 2:
            raise ValueError(f"{rope_dim} rotary features cannot be paired")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.latent_dim = latent_dim
        self.rope_dim = rope_dim
        self.head_dim = embed_dim // num_heads
        self.q_down_proj = nn.Linear(embed_dim, query_latent_dim)
        self.q_up_proj = nn.Linear(query_latent_dim, embed_dim)
        self.q_rope_proj = nn.Linear(query_latent_dim, num_heads * rope_dim)
        self.down_proj = nn.Linear(embed_dim, latent_dim)
        self.k_rope_proj = nn.Linear(embed_dim, rope_dim)
        self.k_up_proj = nn.Linear(latent_dim, embed_dim)
        self.v_up_proj = nn.Linear(latent_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Attend from the new positions `x` to the cached ones and to themselves.

        Args:
            x: The new positions, (B, L, E), in the dtype of the parameters.
            cache: Latents (B, T, C) and turned keys (B, T, R) of the positions before `x`, as an
                earlier call returned them; None where there are none. Never changed.

        Returns:
            Output (B, L, E), and a new cache: latents (B, T + L, C) and turned keys
            (B, T + L, R) of all positions so far. All in the dtype of `x`.

        Raises:
            ValueError: If `x` is not (B, L, E), or `cache` does not fit it.
        """
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError(
                f"x has shape {tuple(x.shape)}; it needs (batch, length, {self.embed_dim})"
            )
        cached = 0 if cache is None else cache[0].shape[1]
        positions = torch.arange(cached, cached + x.shape[1], device=x.device)
        latents = self.down_proj(x)  # (B, L, C)
        k_rope = self.k_rope_proj(x).unsqueeze(1)  # (B, 1, L, R)
        k_rope = _turned(k_rope, positions).squeeze(1)  # (B, L, R)
        if cache is not None:
            past_latents, past_k_rope = cache
            self._check_cache(past_latents, past_k_rope, batch=x.shape[0])
            latents = torch.cat((past_latents, latents), dim=1)  # (B, S, C)
            k_rope = torch.cat((past_k_rope, k_rope), dim=1)  # (B, S, R)
        kept = (latents, k_rope)
        queries = self.q_down_proj(x)  # (B, L, Q)
        q = self._split(self.q_up_proj(queries))  # (B, H, L, D)
        q_rope = self._split(self.q_rope_proj(queries))  # (B, H, L, R)
        q_rope = _turned(q_rope, positions)
        k = self._split(self.k_up_proj(latents))  # (B, H, S, D)
        v = self._split(self.v_up_proj(latents))  # (B, H, S, D)

        scores = q @ k.transpose(-2, -1)  # (B, H, L, S)
        scores = scores + q_rope @ k_rope.unsqueeze(1).transpose(-2, -1)
        scores = scores / math.sqrt(self.head_dim + self.rope_dim)
        scores = scores.masked_fill(_future(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v  # (B, H, L, D)
        output = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, L, E)
        return output, kept

    def _split(self, x: Tensor) -> Tensor:
        x = x.reshape(*x.shape[:2], self.num_heads, -1)  # (B, S, H, D) or (B, L, H, R)
        return x.transpose(1, 2)  # (B, H, S, D) or (B, H, L, R)

    def _check_cache(self, latents: Tensor, k_rope: Tensor, batch: int) -> None:
        cached = latents.shape[1]
        expected = (batch, cached, self.latent_dim), (batch, cached, self.rope_dim)
        if (latents.shape, k_rope.shape) != expected:
            raise ValueError(
                f"cached latents have shape {tuple(latents.shape)} and keys {tuple(k_rope.shape)}; "
                f"they need ({batch}, T, {self.latent_dim}) and ({batch}, T, {self.rope_dim})"
            )


def _turned(x: Tensor, positions: Tensor) -> Tensor:
    """Return x, (B, heads, L, R), turned by the angles of its positions (L,)."""
    # never in half precision: bfloat16 cannot tell position 1000 from 1001
    dtype = torch.get_default_dtype()
    exponents = torch.arange(0, x.shape[-1], 2, dtype=dtype, device=x.device) / x.shape[-1]
    angles = positions.to(dtype).unsqueeze(-1) * BASE**-exponents  # (L, R/2)
    cos = angles.cos().to(x.dtype)
    sin = angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)  # (B, heads, L, R/2) each
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def _future(scores: Tensor) -> Tensor:
    """Return (L, S), True where a key lies after its query; the last L keys are new."""
    new, total = scores.shape[-2:]
    positions = torch.ones(new, total, dtype=torch.bool, device=scores.device)
    # Query i stands at position T + i, so the diagonal moves right by T = S − L.
    return positions.triu(diagonal=total - new + 1)
