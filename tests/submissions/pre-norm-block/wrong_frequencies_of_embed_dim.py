# expect: rejected
# problem: pre-norm-block
# mistake: the exponent of the frequencies is divided by E instead of D
# diagnosis: frequencies-of-the-width
import math

import torch
from torch import nn
from torch.nn import functional as F


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, z):
        wide = z if z.dtype == torch.float64 else z.float()
        rms = torch.sqrt(wide.pow(2).mean(dim=-1, keepdim=True) + 1e-6)
        return (wide / rms).to(z.dtype) * self.weight


class PreNormBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads, ffn_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("H does not divide E")
        if num_heads % num_kv_heads:
            raise ValueError("G does not divide H")
        self.H, self.G, self.D = num_heads, num_kv_heads, embed_dim // num_heads
        if self.D % 2:
            raise ValueError("D is odd")
        self.norm1 = RMSNorm(embed_dim)
        self.q = nn.Linear(embed_dim, embed_dim, bias=False)
        self.k = nn.Linear(embed_dim, self.G * self.D, bias=False)
        self.v = nn.Linear(embed_dim, self.G * self.D, bias=False)
        self.out = nn.Linear(embed_dim, embed_dim, bias=False)
        self.norm2 = RMSNorm(embed_dim)
        self.gate = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.up = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.down = nn.Linear(ffn_dim, embed_dim, bias=False)

    def angles(self, L, x):
        i = torch.arange(self.D // 2, dtype=torch.float64)
        theta = 10000.0 ** (-2 * i / (self.D * self.H))
        p = torch.arange(L, dtype=torch.float64)
        return p[:, None] * theta

    def rope(self, z):
        angle = self.angles(z.shape[2], z)
        cos, sin = angle.cos().to(z.dtype), angle.sin().to(z.dtype)
        a, b = z.chunk(2, dim=-1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)

    def attention(self, z):
        B, L, E = z.shape
        q = self.q(z).reshape(B, L, self.H, self.D).transpose(1, 2)
        k = self.k(z).reshape(B, L, self.G, self.D).transpose(1, 2)
        v = self.v(z).reshape(B, L, self.G, self.D).transpose(1, 2)
        q = self.rope(q)
        k = self.rope(k)
        k = k.repeat_interleave(self.H // self.G, dim=1)
        v = v.repeat_interleave(self.H // self.G, dim=1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.D)
        later = torch.ones(L, L, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
        heads = torch.softmax(scores, dim=-1) @ v
        return self.out(heads.transpose(1, 2).reshape(B, L, E))

    def ffn(self, z):
        return self.down(F.silu(self.gate(z)) * self.up(z))

    def forward(self, x):
        y = x + self.attention(self.norm1(x))
        return y + self.ffn(self.norm2(y))
