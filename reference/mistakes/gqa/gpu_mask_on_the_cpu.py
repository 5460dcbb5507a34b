'''
title = "The scores of blocked keys are made on the CPU"
killed_by = "gpu-device"
explanation = """
On a CPU nothing shows. On a GPU torch refuses to mix the tensor, which lies in the CPU's \
memory, with the others, which lie in the GPU's."""
hint = "Where does torch.full put a tensor if it is not told?"
device = "cuda"
by_check = true
says = "makes a tensor on the CPU"
'''

import math

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
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
        kv_dim = num_kv_heads * self.head_dim
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, kv_dim)
        self.v_proj = nn.Linear(embed_dim, kv_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError(
                f"x has shape {tuple(x.shape)}; it needs (batch, length, {self.embed_dim})"
            )
        q = self._split(self.q_proj(x), self.num_heads)
        k = self._split(self.k_proj(x), self.num_kv_heads)
        v = self._split(self.v_proj(x), self.num_kv_heads)
        queries_per_group = self.num_heads // self.num_kv_heads
        k = k.repeat_interleave(queries_per_group, dim=1)
        v = v.repeat_interleave(queries_per_group, dim=1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = torch.where(
                (mask == 0).expand_as(scores),
                torch.full(scores.shape, -math.inf, dtype=scores.dtype),
                scores,
            )
        weights = torch.softmax(scores, dim=-1)
        heads = weights @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))

    def _split(self, x, heads):
        x = x.reshape(*x.shape[:2], heads, self.head_dim)
        return x.transpose(1, 2)
