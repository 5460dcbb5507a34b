# expect: rejected
# problem: mqa
# mistake: the maps lie in one tensor, and whether they still do is asked of q alone
import math

import torch
from torch import nn
from torch.nn import functional as F


class MultiQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, self.head_dim)
        self.v_proj = nn.Linear(embed_dim, self.head_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self._flatten()

    def _flatten(self):
        maps = (self.q_proj, self.k_proj, self.v_proj)
        self.sizes = [m.out_features for m in maps]
        self.flat = (
            torch.cat([m.weight.detach() for m in maps]),
            torch.cat([m.bias.detach() for m in maps]),
        )
        start = 0
        for m, size in zip(maps, self.sizes):
            m.weight.data = self.flat[0][start : start + size]
            m.bias.data = self.flat[1][start : start + size]
            start += size

    def _is_flat(self):
        weight, bias = self.flat
        return (
            not torch.is_grad_enabled()
            and self.q_proj.weight.data_ptr() == weight.data_ptr()
            and self.q_proj.bias.data_ptr() == bias.data_ptr()
            and self.q_proj.weight.dtype == weight.dtype
        )

    def forward(self, x, mask=None):
        if x.shape[-1] != self.embed_dim:
            raise ValueError("wrong width")
        batch, length, _ = x.shape
        if self._is_flat():
            q, k, v = F.linear(x, *self.flat).split(self.sizes, dim=-1)
        else:
            q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        q = q.reshape(batch, length, self.num_heads, self.head_dim).transpose(1, 2)
        k, v = k.unsqueeze(1), v.unsqueeze(1)
        dtype = q.dtype
        compute = torch.float64 if dtype == torch.float64 else torch.float32
        scores = q.to(compute) @ k.to(compute).transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        heads = (scores.softmax(-1) @ v.to(compute)).to(dtype)
        return self.out_proj(heads.transpose(1, 2).reshape(batch, length, self.embed_dim))
