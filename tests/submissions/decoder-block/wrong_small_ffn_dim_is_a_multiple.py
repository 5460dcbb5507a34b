# expect: rejected
# problem: decoder-block
# mistake: an ffn_dim of 1 to 4 is taken for a multiple of embed_dim
import math

import torch
from torch import nn


class _Attention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _split(self, x):
        return x.view(x.size(0), x.size(1), self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x, c, blocked):
        q, k, v = self._split(self.q_proj(x)), self._split(self.k_proj(c)), self._split(self.v_proj(c))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if blocked is not None:
            scores = scores.masked_fill(blocked, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(x.shape))


class DecoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, ffn_dim):
        super().__init__()
        if ffn_dim <= 4:
            ffn_dim = ffn_dim * embed_dim  # a ratio, as in ViT configurations
        self.self_attn = _Attention(embed_dim, num_heads)
        self.norm1 = nn.LayerNorm(embed_dim)
        self.cross_attn = _Attention(embed_dim, num_heads)
        self.norm2 = nn.LayerNorm(embed_dim)
        self.linear1 = nn.Linear(embed_dim, ffn_dim)
        self.linear2 = nn.Linear(ffn_dim, embed_dim)
        self.norm3 = nn.LayerNorm(embed_dim)

    def forward(self, x, memory, memory_mask=None):
        if x.size(0) != memory.size(0):
            raise ValueError("x and memory of different batch sizes")
        later = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).triu(1)
        y = self.norm1(x + self.self_attn(x, x, later))
        z = self.norm2(y + self.cross_attn(y, memory, None if memory_mask is None else memory_mask == 0))
        return self.norm3(z + self.linear2(torch.relu(self.linear1(z))))
