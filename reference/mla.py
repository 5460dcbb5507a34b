"""Multi-head latent attention: one narrow latent per position is all that is cached."""
# B batch  L new positions  T cached positions  S all positions, S = T + L
# H heads  D head size  E width, E = H·D  C latent width

import math

import torch
from torch import Tensor, nn


class MultiHeadLatentAttention(nn.Module):
    """Causal self-attention whose keys and values are made from a cached latent.

    c = x W_down, k = c W_up_k, v = c W_up_v, headₕ = softmax(qₕ kₕᵀ / √D) vₕ, where the query
    at position p attends to positions 0 … p, cached or new; the output is
    Concat(head₀ … head_H₋₁) Wₒ. A call returns the latents c of all positions, C numbers each
    instead of 2·E. The module holds no state.

    Keys and values of all positions are made anew in every call. The scores can do without
    them: qₕ kₕᵀ = (qₕ W_up_kₕᵀ) cᵀ, and likewise W_up_v can move behind the weighted sum.

    Args:
        embed_dim: E, the width of input and output.
        num_heads: H; divides E.
        latent_dim: C, the width of what is cached.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`.

    Source:
        DeepSeek-AI 2024, "DeepSeek-V2", arXiv:2405.04434, section 2.1.2, equations 9 to 11;
        without the compression of queries, the norm of the latent and the rotary part.
    """

    def __init__(self, embed_dim: int, num_heads: int, latent_dim: int) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {embed_dim}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.latent_dim = latent_dim
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.down_proj = nn.Linear(embed_dim, latent_dim)
        self.k_up_proj = nn.Linear(latent_dim, embed_dim)
        self.v_up_proj = nn.Linear(latent_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor, cache: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from the new positions `x` to the cached ones and to themselves.

        Args:
            x: The new positions, (B, L, E), in the dtype of the parameters.
            cache: Latents of the positions before `x`, (B, T, C), as an earlier call returned
                them; None where there are none. Never changed.

        Returns:
            Output (B, L, E), and a new cache: the latents of all positions so far,
            (B, T + L, C). Both in the dtype of `x`.

        Raises:
            ValueError: If `x` is not (B, L, E), or `cache` does not fit it.
        """
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError(
                f"x has shape {tuple(x.shape)}; it needs (batch, length, {self.embed_dim})"
            )
        latents = self.down_proj(x)  # (B, L, C)
        if cache is not None:
            self._check_cache(cache, batch=x.shape[0])
            latents = torch.cat((cache, latents), dim=1)  # (B, S, C)
        q = self._split(self.q_proj(x))  # (B, H, L, D)
        k = self._split(self.k_up_proj(latents))  # (B, H, S, D)
        v = self._split(self.v_up_proj(latents))  # (B, H, S, D)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, S)
        scores = scores.masked_fill(_future(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v  # (B, H, L, D)
        output = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, L, E)
        return output, latents

    def _split(self, x: Tensor) -> Tensor:
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)  # (B, S, H, D)
        return x.transpose(1, 2)  # (B, H, S, D)

    def _check_cache(self, cache: Tensor, batch: int) -> None:
        if cache.ndim != 3 or cache.shape[0] != batch or cache.shape[2] != self.latent_dim:
            raise ValueError(
                f"the cache has shape {tuple(cache.shape)}; "
                f"it needs ({batch}, T, {self.latent_dim})"
            )


def _future(scores: Tensor) -> Tensor:
    """Return (L, S), True where a key lies after its query; the last L keys are new."""
    new, total = scores.shape[-2:]
    positions = torch.ones(new, total, dtype=torch.bool, device=scores.device)
    # Query i stands at position T + i, so the diagonal moves right by T = S − L.
    return positions.triu(diagonal=total - new + 1)
