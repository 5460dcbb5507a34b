# expect: rejected
# problem: pre-norm-block
# mistake: the gradient of a row of zeros is NaN
import math

import torch
from torch import nn
from torch.nn import functional as F


class _RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.root_eps = math.sqrt(eps)

    def forward(self, x):
        wide = x if x.dtype == torch.float64 else x.float()
        rms = wide.square().mean(-1, keepdim=True).sqrt()
        scale = torch.hypot(rms, rms.new_tensor(self.root_eps))  # sqrt(mean square + eps)
        return (wide / scale).to(x.dtype) * self.weight


class PreNormBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads, ffn_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        if num_heads % num_kv_heads:
            raise ValueError("num_kv_heads must divide num_heads")
        self.embed_dim, self.num_heads, self.num_kv_heads = embed_dim, num_heads, num_kv_heads
        self.head_dim = embed_dim // num_heads
        if self.head_dim % 2:
            raise ValueError("the head size must be even")
        narrow = num_kv_heads * self.head_dim
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.k_proj = nn.Linear(embed_dim, narrow, bias=False)
        self.v_proj = nn.Linear(embed_dim, narrow, bias=False)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.gate_proj = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.up_proj = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.down_proj = nn.Linear(ffn_dim, embed_dim, bias=False)
        self.norm1 = _RMSNorm(embed_dim)
        self.norm2 = _RMSNorm(embed_dim)

    @staticmethod
    def _turn(x):
        length, half = x.shape[2], x.shape[3] // 2
        theta = 10000.0 ** (-torch.arange(half, dtype=torch.float64, device=x.device) / half)
        angles = torch.arange(length, dtype=torch.float64, device=x.device)[:, None] * theta
        wide = x.dtype if x.dtype == torch.float64 else torch.float32
        cos, sin = angles.cos().to(wide), angles.sin().to(wide)
        a, b = x.to(wide).chunk(2, dim=-1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1).to(x.dtype)

    def _attend(self, z):
        batch, length, _ = z.shape
        groups, share = self.num_kv_heads, self.num_heads // self.num_kv_heads
        q = self.q_proj(z).reshape(batch, length, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(z).reshape(batch, length, groups, self.head_dim).transpose(1, 2)
        v = self.v_proj(z).reshape(batch, length, groups, self.head_dim).transpose(1, 2)
        q, k = self._turn(q), self._turn(k)
        q = (q / math.sqrt(self.head_dim)).reshape(batch, groups, share, length, self.head_dim)
        scores = torch.matmul(q, k.unsqueeze(2).transpose(-2, -1))
        future = torch.ones(length, length, dtype=torch.bool, device=z.device).triu(1)
        scores = scores.masked_fill(future, torch.finfo(scores.dtype).min)
        out = torch.matmul(torch.softmax(scores, dim=-1), v.unsqueeze(2))
        return self.out_proj(out.permute(0, 3, 1, 2, 4).reshape(batch, length, self.embed_dim))

    def forward(self, x):
        if x.shape[-1] != self.embed_dim:
            raise ValueError("input must be embed_dim wide")
        y = x + self._attend(self.norm1(x))
        z = self.norm2(y)
        return y + self.down_proj(F.silu(self.gate_proj(z)) * self.up_proj(z))
