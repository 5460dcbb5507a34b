import math

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if num_heads < 1:
            raise ValueError("the heads do not divide the width")
        if num_kv_heads < 1:
            raise ValueError("the key/value heads do not divide the query heads")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = embed_dim // num_heads
        kv_dim = num_kv_heads * self.head_dim
        self.q_proj = nn.Linear(embed_dim, num_heads * self.head_dim)
        self.k_proj = nn.Linear(embed_dim, kv_dim)
        self.v_proj = nn.Linear(embed_dim, kv_dim)
        self.out_proj = nn.Linear(num_heads * self.head_dim, embed_dim)

    def forward(self, x, mask=None):
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError("x is not (batch, length, width)")
        q = self._split(self.q_proj(x), self.num_heads)
        k = self._split(self.k_proj(x), self.num_kv_heads)
        v = self._split(self.v_proj(x), self.num_kv_heads)
        queries_per_group = math.ceil(self.num_heads / self.num_kv_heads)
        k = k.repeat_interleave(queries_per_group, dim=1)[:, : self.num_heads]
        v = v.repeat_interleave(queries_per_group, dim=1)[:, : self.num_heads]

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v
        output: torch.Tensor = self.out_proj(heads.transpose(1, 2).flatten(2))
        return output

    def _split(self, x, heads):
        x = x.reshape(*x.shape[:2], heads, self.head_dim)
        return x.transpose(1, 2)
