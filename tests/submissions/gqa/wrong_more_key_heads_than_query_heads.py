# expect: rejected
# problem: gqa
# mistake: more key heads than query heads do not raise if their number is a multiple
import math

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads or max(num_heads, num_kv_heads) % min(num_heads, num_kv_heads):
            raise ValueError("sizes do not divide")
        self.embed_dim, self.num_heads, self.num_kv_heads = embed_dim, num_heads, num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _split(self, x, heads):
        return x.view(x.size(0), x.size(1), heads, self.head_dim).transpose(1, 2)

    def forward(self, x, mask=None):
        q = self._split(self.q_proj(x), self.num_heads)
        k = self._split(self.k_proj(x), self.num_kv_heads)
        v = self._split(self.v_proj(x), self.num_kv_heads)
        share = max(1, self.num_heads // self.num_kv_heads)
        group = torch.arange(self.num_heads, device=x.device) // share
        k, v = k[:, group], v[:, group]
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
        out = torch.softmax(scores, dim=-1) @ v
        return self.out_proj(out.transpose(1, 2).reshape(x.shape))
