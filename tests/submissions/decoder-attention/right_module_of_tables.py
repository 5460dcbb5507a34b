# expect: accepted
# problem: decoder-attention
# Cosines and sines stand in a table that a module of its own grows when it is too short.
import math

import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.tables = {}

    def forward(self, x, start):
        end = start + x.shape[2]
        key = (x.dtype, x.device)
        if key not in self.tables or self.tables[key][0].shape[0] < end:
            with torch.inference_mode(False), torch.no_grad():
                step = torch.exp(torch.arange(0, self.dim, 2, device=x.device) * (-math.log(10000.0) / self.dim))
                angles = torch.arange(2 * end, device=x.device).float()[:, None] * step
                self.tables[key] = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        cos, sin = (table[start:end] for table in self.tables[key])
        pairs = x.unflatten(-1, (2, -1))  # (B, heads, L, 2, D/2)
        a, b = pairs.unbind(-2)
        return torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-2).flatten(-2)


class RoPEAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads, window=None, dropout=0.0):
        super().__init__()
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim or num_heads % num_kv_heads or self.head_dim % 2:
            raise ValueError("sizes do not fit")
        self.shape = num_heads, num_kv_heads
        self.window = window or 10**9
        self.to_q = nn.Linear(embed_dim, embed_dim)
        self.to_k = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.to_v = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.to_out = nn.Linear(embed_dim, embed_dim)
        self.rotary = Rotary(self.head_dim)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, cache=None):
        H, G = self.shape
        heads = lambda t, n: t.unflatten(-1, (n, self.head_dim)).transpose(1, 2)
        T = len(cache[0][0, 0]) if cache else 0
        q = self.rotary(heads(self.to_q(x), H), T)
        k = self.rotary(heads(self.to_k(x), G), T)
        v = heads(self.to_v(x), G)
        if cache:
            k, v = (torch.cat(pair, dim=2) for pair in zip(cache, (k, v)))
        share = torch.arange(H, device=x.device) // (H // G)
        scores = q @ k[:, share].mT / math.sqrt(self.head_dim)
        new, total = scores.shape[-2:]
        band = torch.ones(new, total, dtype=torch.bool, device=x.device)
        band = band.tril(T).triu(T - self.window + 1 if self.window < total else -total)
        bias = torch.zeros_like(scores).masked_fill(~band, -1e9)
        weights = self.drop((scores + bias).softmax(-1))
        return self.to_out((weights @ v[:, share]).transpose(1, 2).flatten(2)), (k, v)
