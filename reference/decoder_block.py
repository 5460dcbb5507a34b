"""One block of the Transformer's decoder."""
# B batch  L length  S memory length  H heads  D head size  E width, E = H·D
# F width of the feed-forward layer

import math

import torch
from torch import Tensor, nn


class DecoderBlock(nn.Module):
    """Three sub-layers, each Post-LN: LayerNorm(x + sub-layer(x)).

    Causal self-attention, then attention from x to the encoder's output, the memory, then
    FFN(x) = max(0, x W₁ + b₁) W₂ + b₂ for each position by itself (equation 2).

    Args:
        embed_dim: E, the width of input, memory and output.
        num_heads: H; divides E.
        ffn_dim: F, the width between the two maps of the feed-forward layer.

    Raises:
        ValueError: If `num_heads` does not divide `embed_dim`.

    Source:
        Vaswani et al. 2017, arXiv:1706.03762v7, sections 3.1, 3.2.3 and 3.3; LayerNorm by
        Ba et al. 2016, arXiv:1607.06450.
    """

    def __init__(self, embed_dim: int, num_heads: int, ffn_dim: int) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {embed_dim}")
        self.embed_dim = embed_dim
        self.self_attention = Attention(embed_dim, num_heads)
        self.norm1 = nn.LayerNorm(embed_dim)
        self.cross_attention = Attention(embed_dim, num_heads)
        self.norm2 = nn.LayerNorm(embed_dim)
        self.ffn1 = nn.Linear(embed_dim, ffn_dim)
        self.ffn2 = nn.Linear(ffn_dim, embed_dim)
        self.norm3 = nn.LayerNorm(embed_dim)

    def forward(self, x: Tensor, memory: Tensor, memory_mask: Tensor | None = None) -> Tensor:
        """Attend to the past, then to the memory, then transform each position.

        Args:
            x: (B, L, E), in the dtype of the parameters.
            memory: (B, S, E), the output of the encoder, same dtype.
            memory_mask: Boolean, integer or float, (B, 1, 1, S); a position of the memory may
                not be attended to where it is 0.

        Returns:
            (B, L, E), in the dtype of `x`. An item whose whole memory is blocked gets NaN;
            other items are not affected.

        Raises:
            ValueError: If `x` or `memory` is not E wide, or their batch sizes differ.
            RuntimeError: If `memory_mask` does not broadcast to (B, H, L, S).
        """
        self._check(x, memory)
        causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        gathered = self.self_attention(x, x, causal)  # (B, L, E)
        x = self.norm1(x + gathered)

        read = self.cross_attention(x, memory, memory_mask)  # (B, L, E)
        x = self.norm2(x + read)

        hidden = torch.relu(self.ffn1(x))  # (B, L, F)
        transformed = self.ffn2(hidden)  # (B, L, E)
        return self.norm3(x + transformed)

    def _check(self, x: Tensor, memory: Tensor) -> None:
        for name, tensor in {"x": x, "memory": memory}.items():
            if tensor.ndim != 3 or tensor.shape[-1] != self.embed_dim:
                raise ValueError(
                    f"{name} has shape {tuple(tensor.shape)}; (batch, length, {self.embed_dim})"
                )
        if x.shape[0] != memory.shape[0]:
            raise ValueError(f"batch sizes differ: x {x.shape[0]}, memory {memory.shape[0]}")


class Attention(nn.Module):
    """Concat(head₀ … head_H₋₁) Wₒ, where headₕ = softmax(qₕ kₕᵀ / √D) vₕ (section 3.2.2)."""

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor, context: Tensor, mask: Tensor | None) -> Tensor:
        """Attend from x (B, L, E) to context (B, S, E) where the mask is not 0."""
        q = self._split(self.q_proj(x))  # (B, H, L, D)
        k = self._split(self.k_proj(context))  # (B, H, S, D)
        v = self._split(self.v_proj(context))  # (B, H, S, D)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # (B, H, L, S)
        if mask is not None:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v  # (B, H, L, D)
        return self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, L, E)

    def _split(self, x: Tensor) -> Tensor:
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)  # (B, ·, H, D)
        return x.transpose(1, 2)  # (B, H, ·, D)
