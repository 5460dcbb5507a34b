# expect: rejected
# problem: fused-qkv
# mistake: q comes from a product of its own beyond 256 positions
# diagnosis: three-products
import math

import torch
import torch.nn.functional as F
from torch import nn


class FusedSelfAttention(nn.Module):
    ROWS = 256

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim = embed_dim // num_heads
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _heads(self, t):
        return t.reshape(t.shape[0], t.shape[1], self.num_heads, self.head_dim).transpose(1, 2)

    def _attend(self, q, k, v, mask):
        scores = (q / math.sqrt(self.head_dim)) @ k.transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
        return scores.softmax(-1) @ v

    def forward(self, x, mask=None):
        if x.shape[-1] != self.embed_dim:
            raise ValueError("x is not embed_dim wide")
        batch, length, width = x.shape
        if length <= self.ROWS:
            q, k, v = (self._heads(t) for t in self.qkv(x).chunk(3, dim=-1))
            heads = self._attend(q, k, v, mask)
        else:
            # long input: never hold all queries and all scores at once
            weight, bias = self.qkv.weight, self.qkv.bias
            k, v = (self._heads(t) for t in F.linear(x, weight[width:], bias[width:]).chunk(2, -1))
            parts = []
            for start in range(0, length, self.ROWS):
                rows = slice(start, start + self.ROWS)
                q = self._heads(F.linear(x[:, rows], weight[:width], bias[:width]))
                part = mask
                if mask is not None and mask.shape[-2] != 1:
                    part = mask[..., rows, :]
                parts.append(self._attend(q, k, v, part))
            heads = torch.cat(parts, dim=2)
        return self.out_proj(heads.transpose(1, 2).reshape(batch, length, width))
