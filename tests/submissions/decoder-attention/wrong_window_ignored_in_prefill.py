# expect: rejected
# problem: decoder-attention
# mistake: the window is used with a cache alone
# diagnosis: window-ignored-in-prefill
import math

import torch
from torch import nn


class DecoderAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads, window=None):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("embed_dim must be divisible by num_heads")
        if num_heads % num_kv_heads:
            raise ValueError("num_heads must be divisible by num_kv_heads")
        self.num_heads, self.num_kv_heads, self.window = num_heads, num_kv_heads, window
        self.head_dim = embed_dim // num_heads
        if self.head_dim % 2:
            raise ValueError("head_dim must be even")
        kv_dim = num_kv_heads * self.head_dim
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, kv_dim)
        self.v_proj = nn.Linear(embed_dim, kv_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def rope(self, x, pos):
        half = self.head_dim // 2
        i = torch.arange(half, device=x.device, dtype=torch.float32)
        angle = pos.float()[:, None] * 10000.0 ** (-2 * i / self.head_dim)
        cos, sin = angle.cos(), angle.sin()
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).to(x.dtype)

    def split(self, t, n):
        return t.view(t.shape[0], t.shape[1], n, self.head_dim).transpose(1, 2)

    def forward(self, x, cache=None):
        B, L, E = x.shape
        T = 0 if cache is None else cache[0].shape[2]
        q = self.split(self.q_proj(x), self.num_heads)
        k = self.split(self.k_proj(x), self.num_kv_heads)
        v = self.split(self.v_proj(x), self.num_kv_heads)
        pos = torch.arange(T, T + L, device=x.device)
        q = self.rope(q, pos)
        k = self.rope(k, pos)
        if cache is not None:
            k = torch.cat([cache[0], k], 2)
            v = torch.cat([cache[1], v], 2)
        new_cache = (k, v)
        rep = self.num_heads // self.num_kv_heads
        kk = k.repeat_interleave(rep, 1)
        vv = v.repeat_interleave(rep, 1)
        scores = q @ kk.transpose(-1, -2) / math.sqrt(self.head_dim)
        j = torch.arange(k.shape[2], device=x.device)
        keep = j[None, :] <= pos[:, None]
        if self.window is not None and cache is not None:
            keep = keep & (j[None, :] > pos[:, None] - self.window)
        scores = scores.masked_fill(~keep, float("-inf"))
        weights = scores.softmax(-1)
        out = (weights @ vv).transpose(1, 2).reshape(B, L, E)
        return self.out_proj(out), new_cache
