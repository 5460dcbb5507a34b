"""One block of a decoder-only Transformer as in Llama: Pre-Norm, RMSNorm, GQA, RoPE, SwiGLU."""
# B batch  L length  H query heads  G key/value heads  D head size
# E width, E = H·D  F width of the feed-forward layer

import math

import torch
from torch import Tensor, nn

BASE = 10_000.0
EPS = 1e-6


class RMSNorm(nn.Module):
    """x / √(mean of x² + ε) ⊙ weight, over the features of each position."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """Return the normalised x, (…, E), in its dtype; half precision is computed in float32."""
        wide = x.float() if x.dtype.itemsize < 4 else x
        mean_square = wide.square().mean(dim=-1, keepdim=True)  # (…, 1)
        normalised = wide * torch.rsqrt(mean_square + EPS)  # (…, E)
        return normalised.to(x.dtype) * self.weight


class PreNormBlock(nn.Module):
    """y = x + Attention(RMSNorm₁(x)), then y + FFN(RMSNorm₂(y)), without biases.

    Attention is causal: headₕ = softmax(R_p qₕ (R k_g)ᵀ / √D) v_g over positions 0 … p, with
    g = h // (H/G), where R_p turns features i and i + D/2 by p · 10000^(−2i/D) at position p;
    then Concat(head₀ … head_H₋₁) Wₒ. FFN(z) = (SiLU(z W_gate) ⊙ z W_up) W_down.

    Args:
        embed_dim: E, the width of input and output.
        num_heads: H, query heads; divides E, and E / H is even.
        num_kv_heads: G, key/value heads; divides H.
        ffn_dim: F, the width between the maps of the feed-forward layer.

    Raises:
        ValueError: If these sizes do not fit together.

    Sources:
        Touvron et al. 2023, arXiv:2302.13971, section 2.2, for the block; Zhang, Sennrich 2019,
        arXiv:1910.07467, equation 4, for the norm; Shazeer 2020, arXiv:2002.05202, equation 6, for
        SwiGLU; Ainslie et al. 2023, arXiv:2305.13245, section 2.2, for the groups; Su et al. 2021,
        arXiv:2104.09864, equations 15 and 34, for the rotation, with the pairs of GPT-NeoX
        (arXiv:2204.06745).
    """

    def __init__(self, embed_dim: int, num_heads: int, num_kv_heads: int, ffn_dim: int) -> None:
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
        kv_dim = num_kv_heads * self.head_dim
        self.norm1 = RMSNorm(embed_dim)
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.k_proj = nn.Linear(embed_dim, kv_dim, bias=False)
        self.v_proj = nn.Linear(embed_dim, kv_dim, bias=False)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.norm2 = RMSNorm(embed_dim)
        self.gate_proj = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.up_proj = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.down_proj = nn.Linear(ffn_dim, embed_dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Let each position attend to those up to it, then transform each by itself.

        Args:
            x: (B, L, E), in the dtype of the parameters.

        Returns:
            (B, L, E), in the dtype of `x`.

        Raises:
            ValueError: If `x` is not (B, L, E).
        """
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError(f"x has shape {tuple(x.shape)}; (batch, length, {self.embed_dim})")
        attended = self._attend(self.norm1(x))  # (B, L, E)
        x = x + attended

        transformed = self._transform(self.norm2(x))  # (B, L, E)
        return x + transformed

    def _attend(self, x: Tensor) -> Tensor:
        positions = torch.arange(x.shape[1], device=x.device)
        q = self._split(self.q_proj(x), self.num_heads)  # (B, H, L, D)
        k = self._split(self.k_proj(x), self.num_kv_heads)  # (B, G, L, D)
        v = self._split(self.v_proj(x), self.num_kv_heads)  # (B, G, L, D)
        q = _turned(q, positions)
        k = _turned(k, positions)
        queries_per_group = self.num_heads // self.num_kv_heads
        k = k.repeat_interleave(queries_per_group, dim=1)  # (B, H, L, D): k0 k0 k1 k1
        v = v.repeat_interleave(queries_per_group, dim=1)  # (B, H, L, D): v0 v0 v1 v1

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, L)
        scores = scores.masked_fill(_future(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v  # (B, H, L, D)
        return self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, L, E)

    def _transform(self, x: Tensor) -> Tensor:
        gate = nn.functional.silu(self.gate_proj(x))  # (B, L, F)
        hidden = gate * self.up_proj(x)  # (B, L, F)
        return self.down_proj(hidden)  # (B, L, E)

    def _split(self, x: Tensor, heads: int) -> Tensor:
        x = x.reshape(*x.shape[:2], heads, self.head_dim)  # (B, L, heads, D)
        return x.transpose(1, 2)  # (B, heads, L, D)


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
    """Return (L, L), True where a key lies after its query."""
    everywhere = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
    return everywhere.triu(diagonal=1)
