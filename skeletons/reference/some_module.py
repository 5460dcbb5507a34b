"""FILL IN: the title."""
# B batch  L length  H heads  D head size  E width, E = H·D

import math

import torch
from torch import Tensor, nn


class SomeModule(nn.Module):
    """FILL IN: equation, shapes, errors and source.

    FILL IN: below, a plain and correct answer, a shape on every line, in place of the example.
    """

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor) -> Tensor:
        q = self._split(self.q_proj(x))  # (B, H, L, D)
        k = self._split(self.k_proj(x))
        v = self._split(self.v_proj(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, L, L)
        heads = torch.softmax(scores, dim=-1) @ v  # (B, H, L, D)
        heads = heads.transpose(1, 2).flatten(2)  # (B, L, E)
        return self.out_proj(heads)

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
