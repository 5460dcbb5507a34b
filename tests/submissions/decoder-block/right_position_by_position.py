# expect: accepted
# problem: decoder-block
import math

import torch
from torch import Tensor, nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        if width % heads:
            raise ValueError("num_heads must divide embed_dim")
        self.heads = heads
        self.q_proj, self.k_proj = nn.Linear(width, width), nn.Linear(width, width)
        self.v_proj, self.out_proj = nn.Linear(width, width), nn.Linear(width, width)

    def look(self, q, k, v, shut=None):
        heads = []
        for a, b, c in zip(q.chunk(self.heads, -1), k.chunk(self.heads, -1), v.chunk(self.heads, -1)):
            scores = a @ b.mT * a.shape[-1] ** -0.5
            if shut is not None:
                scores = scores.masked_fill(shut[:, 0], torch.finfo(scores.dtype).min)
            heads.append(scores.softmax(-1) @ c)
        return torch.cat(heads, -1)


class PastAttention(Attention):
    def forward(self, x):
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        rows = [self.look(q[:, i : i + 1], k[:, : i + 1], v[:, : i + 1]) for i in range(x.shape[1])]
        return self.out_proj(torch.cat(rows, 1))


class MemoryAttention(Attention):
    def forward(self, y, memory, mask):
        if mask is not None and mask.shape != (len(memory), 1, 1, memory.shape[1]):
            raise ValueError("memory_mask must be (B, 1, 1, S)")
        shut = None if mask is None else mask == 0
        return self.out_proj(self.look(self.q_proj(y), self.k_proj(memory), self.v_proj(memory), shut))


class DecoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__()
        self.masked_attention = PastAttention(embed_dim, num_heads)
        self.norm1 = nn.LayerNorm(embed_dim)
        self.encoder_attn = MemoryAttention(embed_dim, num_heads)
        self.norm2 = nn.LayerNorm(embed_dim)
        self.linear1, self.linear2 = nn.Linear(embed_dim, ffn_dim), nn.Linear(ffn_dim, embed_dim)
        self.norm3 = nn.LayerNorm(embed_dim)

    def forward(self, x, memory, memory_mask=None):
        if x.size(0) != memory.size(0):
            raise ValueError("memory of another batch size")
        y = self.norm1(x + self.masked_attention(x))
        z = self.norm2(y + self.encoder_attn(y, memory, memory_mask))
        return self.norm3(z + self.linear2(self.linear1(z).clamp(min=0)))
