import math

import torch
from torch import nn


class RelativeAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, max_distance):
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError("the sizes do not fit")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.max_distance = max_distance
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.bias_table = nn.Parameter(torch.zeros(2 * max_distance + 1, num_heads))

    def forward(self, x):
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError("the sizes do not fit")
        q = self._split(self.q_proj(x))
        k = self._split(self.k_proj(x))
        v = self._split(self.v_proj(x))

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        bias = self.bias_table[self._rows(x)]
        scores = scores + bias.permute(2, 0, 1)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v
        merged = heads.transpose(1, 2).flatten(2)
        return self.out_proj(merged)

    def _rows(self, x):
        positions = torch.arange(x.shape[1], device=x.device)
        distances = positions[None, :] - positions[:, None]
        return distances.clamp(-self.max_distance, self.max_distance)

    def _split(self, x):
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)
        return x.transpose(1, 2)
