# expect: rejected
# problem: pre-norm-block
# mistake: frequencies in a buffer stay rounded after the block was converted and back
import math

import torch
import torch.nn.functional as F
from torch import nn


def frequencies(dim, device=None):
    return 10000.0 ** (-torch.arange(0, dim, 2, device=device, dtype=torch.float32) / dim)


class RMSNorm(nn.Module):
    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return wide.to(x.dtype) * self.weight


class PreNormBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads, ffn_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads does not divide embed_dim")
        if num_heads % num_kv_heads:
            raise ValueError("num_kv_heads does not divide num_heads")
        self.embed_dim, self.H, self.G, self.D = embed_dim, num_heads, num_kv_heads, embed_dim // num_heads
        if self.D % 2:
            raise ValueError("head size is odd")
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.D, bias=False)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.D, bias=False)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.gate_proj = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.up_proj = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.down_proj = nn.Linear(ffn_dim, embed_dim, bias=False)
        self.norm1, self.norm2 = RMSNorm(embed_dim), RMSNorm(embed_dim)
        self.register_buffer("theta", frequencies(self.D), persistent=False)

    def tables(self, length):
        theta = self.theta
        if theta.dtype in (torch.float16, torch.bfloat16):  # block.to(dtype) has rounded them
            theta = frequencies(self.D, theta.device)
        angle = torch.arange(length, device=theta.device, dtype=theta.dtype)[:, None] * theta
        return angle.cos(), angle.sin()

    @staticmethod
    def turn(x, cos, sin):
        a, b = x.chunk(2, -1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)

    def attention(self, z):
        B, L, E = z.shape
        cos, sin = self.tables(L)
        q = self.turn(self.q_proj(z).view(B, L, self.H, self.D).transpose(1, 2), cos, sin)
        k = self.turn(self.k_proj(z).view(B, L, self.G, self.D).transpose(1, 2), cos, sin)
        v = self.v_proj(z).view(B, L, self.G, self.D).transpose(1, 2)
        k, v = (t.repeat_interleave(self.H // self.G, 1) for t in (k, v))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.D)
        later = torch.ones(L, L, dtype=torch.bool, device=z.device).triu(1)
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(B, L, E))

    def forward(self, x):
        if x.shape[-1] != self.embed_dim:
            raise ValueError("x is not embed_dim wide")
        y = x + self.attention(self.norm1(x))
        z = self.norm2(y)
        return y + self.down_proj(F.silu(self.gate_proj(z)) * self.up_proj(z))
