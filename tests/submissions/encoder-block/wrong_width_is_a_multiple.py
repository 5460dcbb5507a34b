# expect: rejected
# problem: encoder-block
# mistake: ffn_dim taken for a multiple of E
"""Norms with a scale alone, maps without biases, everything keyword-only from the third on."""

from __future__ import annotations

import dataclasses

import torch
from torch import Tensor, nn


@dataclasses.dataclass(frozen=True)
class _Sizes:
    width: int
    heads: int

    @property
    def head(self) -> int:
        quotient, rest = divmod(self.width, self.heads)
        if rest:
            raise ValueError(f"{self.heads} does not divide {self.width}")
        return quotient


class EncoderBlock(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, ffn_dim: int, *, activation: str = "relu") -> None:
        super().__init__()
        self.sizes = _Sizes(embed_dim, num_heads)
        head = self.sizes.head
        self.activation = getattr(torch, activation)
        self.attention = nn.ModuleDict(
            {
                "qkv": nn.Linear(embed_dim, 3 * num_heads * head, bias=False),
                "out": nn.Linear(num_heads * head, embed_dim, bias=False),
            }
        )
        self.mlp = nn.ModuleDict(
            {
                "up": nn.Linear(embed_dim, ffn_dim * embed_dim, bias=False),
                "down": nn.Linear(ffn_dim * embed_dim, embed_dim, bias=False),
            }
        )
        self.after_attention = nn.LayerNorm(embed_dim, bias=False)
        self.after_mlp = nn.LayerNorm(embed_dim, bias=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        b, l, e = x.shape
        qkv = self.attention["qkv"](x).view(b, l, 3, self.sizes.heads, self.sizes.head)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        logits = (q * self.sizes.head**-0.5) @ k.mT
        if mask is not None:
            logits = logits.where(mask != 0, -torch.inf)
        weights = (logits - logits.logsumexp(-1, keepdim=True)).exp()
        attended = self.attention["out"]((weights @ v).transpose(1, 2).reshape(b, l, e))
        x = self.after_attention(x + attended)
        x = self.after_mlp(x + self.mlp["down"](self.activation(self.mlp["up"](x))))
        return x, weights
