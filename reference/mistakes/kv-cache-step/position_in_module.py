import math

import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError("the heads do not divide the width")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError("x is not (batch, length, width)")
        q = self._split(self.q_proj(x))
        k = self._split(self.k_proj(x))
        v = self._split(self.v_proj(x))
        if cache is not None:
            past_k, past_v = cache
            self._check_cache(past_k, past_v, batch=x.shape[0])
            k = torch.cat((past_k, k), dim=2)
            v = torch.cat((past_v, v), dim=2)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        self.position = getattr(self, "position", 0) if cache is not None else 0
        scores = scores.masked_fill(_future(scores, self.position), -math.inf)
        self.position += x.shape[1]
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v
        output = self.out_proj(heads.transpose(1, 2).flatten(2))
        return output, (k, v)

    def _split(self, x):
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)
        return x.transpose(1, 2)

    def _check_cache(self, k, v, batch):
        cached = k.shape[2] if k.ndim == 4 else 0
        expected = (batch, self.num_heads, cached, self.head_dim)
        if k.shape != expected or v.shape != expected:
            raise ValueError("the cache does not fit")


def _future(scores, position):
    new, total = scores.shape[-2:]
    positions = torch.ones(new, total, dtype=torch.bool, device=scores.device)
    return positions.triu(diagonal=position + 1)
