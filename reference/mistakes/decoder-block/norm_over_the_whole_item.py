import math

import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        mean = x.mean((1, 2), keepdim=True)
        variance = x.var((1, 2), keepdim=True, correction=0)
        return self.weight * (x - mean) * torch.rsqrt(variance + 1e-5) + self.bias


class DecoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError("the heads do not divide the width")
        self.embed_dim = embed_dim
        self.self_attention = Attention(embed_dim, num_heads)
        self.norm1 = Norm(embed_dim)
        self.cross_attention = Attention(embed_dim, num_heads)
        self.norm2 = Norm(embed_dim)
        self.ffn1 = nn.Linear(embed_dim, ffn_dim)
        self.ffn2 = nn.Linear(ffn_dim, embed_dim)
        self.norm3 = Norm(embed_dim)

    def forward(self, x, memory, memory_mask=None):
        self._check(x, memory)
        causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        gathered = self.self_attention(x, x, causal)
        x = self.norm1(x + gathered)

        read = self.cross_attention(x, memory, memory_mask)
        x = self.norm2(x + read)

        hidden = torch.relu(self.ffn1(x))
        transformed = self.ffn2(hidden)
        return self.norm3(x + transformed)

    def _check(self, x, memory):
        for name, tensor in {"x": x, "memory": memory}.items():
            if tensor.ndim != 3 or tensor.shape[-1] != self.embed_dim:
                raise ValueError(f"{name} is not (batch, length, width)")
        if x.shape[0] != memory.shape[0]:
            raise ValueError("batch sizes differ")


class Attention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, context, mask):
        q = self._split(self.q_proj(x))
        k = self._split(self.k_proj(context))
        v = self._split(self.v_proj(context))

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))

    def _split(self, x):
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)
        return x.transpose(1, 2)
