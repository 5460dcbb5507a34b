# expect: rejected
# problem: decoder-block
# mistake: the causal mask is kept in the dtype of the first call
import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def split(self, t):
        return t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, x, source, mask):
        q, k, v = self.split(self.q_proj(x)), self.split(self.k_proj(source)), self.split(self.v_proj(source))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores + mask
        return self.out_proj((torch.softmax(scores, dim=-1) @ v).transpose(1, 2).flatten(2))


class DecoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.self_attn = Attention(embed_dim, num_heads)
        self.norm1 = nn.LayerNorm(embed_dim)
        self.cross_attn = Attention(embed_dim, num_heads)
        self.norm2 = nn.LayerNorm(embed_dim)
        self.linear1 = nn.Linear(embed_dim, ffn_dim)
        self.linear2 = nn.Linear(ffn_dim, embed_dim)
        self.norm3 = nn.LayerNorm(embed_dim)
        self._causal = {}

    def forward(self, x, memory, memory_mask=None):
        if x.shape[0] != memory.shape[0]:
            raise ValueError("x and memory differ in items")
        length = x.shape[1]
        causal = self._causal.get((length, x.device))
        if causal is None:  # made once for each length
            causal = torch.full((length, length), -1e9, dtype=x.dtype, device=x.device).triu(1)
            self._causal[length, x.device] = causal
        if memory_mask is not None:
            memory_mask = torch.where(memory_mask == 0, -1e9, 0.0).to(x.dtype)
        y = self.norm1(x + self.self_attn(x, x, causal))
        z = self.norm2(y + self.cross_attn(y, memory, memory_mask))
        return self.norm3(z + self.linear2(torch.relu(self.linear1(z))))
