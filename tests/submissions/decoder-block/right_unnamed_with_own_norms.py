# expect: accepted
# problem: decoder-block
import math

import torch
from torch import nn


class Standardise(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.t0 = nn.Parameter(torch.zeros(size))
        self.t1 = nn.Parameter(torch.ones(size))

    def forward(self, x):
        x = x - x.mean(dim=-1, keepdim=True)
        return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + 1e-5) * self.t1 + self.t0


class Sublayer(nn.Module):
    def __init__(self, size, n):
        super().__init__()
        if size % n:
            raise ValueError("size % n")
        self.n = n
        self.maps = nn.ParameterList(torch.randn(size, size) / math.sqrt(size) for _ in range(4))
        self.after = Standardise(size)

    def forward(self, x, other, allowed):
        a, b, c = (
            (t @ m).view(t.shape[0], t.shape[1], self.n, -1).transpose(1, 2)
            for t, m in zip((x, other, other), self.maps)
        )
        s = a @ b.mT / math.sqrt(a.shape[-1])
        if allowed is not None:
            s = s.masked_fill(allowed == 0, float("-inf"))
        return self.after(x + (s.softmax(-1) @ c).transpose(1, 2).reshape(x.shape) @ self.maps[3])


class DecoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__()
        self.one = Sublayer(embed_dim, num_heads)
        self.two = Sublayer(embed_dim, num_heads)
        self.three = nn.Sequential(
            nn.Linear(embed_dim, ffn_dim), nn.ReLU(), nn.Linear(ffn_dim, embed_dim)
        )
        self.four = Standardise(embed_dim)

    def forward(self, x, memory, memory_mask=None):
        if x.shape[0] != memory.shape[0]:
            raise ValueError("batch")
        past = torch.ones(x.shape[1], x.shape[1], device=x.device).tril()
        x = self.two(self.one(x, x, past), memory, memory_mask)
        return self.four(x + self.three(x))
