# expect: accepted
# problem: gqa
import math

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        if dim % heads:
            raise ValueError("dim % heads")
        if heads % kv_heads:
            raise ValueError("heads % kv_heads")
        self.heads, self.kv_heads, self.size = heads, kv_heads, dim // heads
        self.w_q = nn.Parameter(torch.empty(dim, dim))
        self.w_k = nn.Parameter(torch.empty(dim, kv_heads * self.size))
        self.w_v = nn.Parameter(torch.empty(dim, kv_heads * self.size))
        self.w_o = nn.Parameter(torch.empty(dim, dim))
        for w in self.parameters():
            nn.init.normal_(w, std=1 / math.sqrt(dim))

    def forward(self, x, mask=None):
        def heads(w, n):
            return torch.stack((x @ w).chunk(n, dim=-1), dim=1)

        q = heads(self.w_q, self.heads)
        r = self.heads // self.kv_heads
        k = heads(self.w_k, self.kv_heads).repeat_interleave(r, 1)
        v = heads(self.w_v, self.kv_heads).repeat_interleave(r, 1)
        a = q @ k.transpose(2, 3) / math.sqrt(self.size)
        if mask is not None:
            a = torch.where(mask != 0, a, -torch.inf)
        a = a - a.amax(-1, keepdim=True).detach()
        a = a.exp()
        a = a / a.sum(-1, keepdim=True)
        return torch.cat((a @ v).unbind(1), -1) @ self.w_o
