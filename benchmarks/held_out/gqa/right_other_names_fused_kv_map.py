# problem: gqa
# right: other names (GroupedQueryAttention, embed_dim, q_proj, kv_proj, out_proj) and one fused map for keys and values
# needs: names
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.kv_proj = nn.Linear(embed_dim, 2 * num_kv_heads * self.head_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        b, l, e = x.shape
        n = self.num_heads // self.num_kv_heads
        q = self.q_proj(x).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        k, v = self.kv_proj(x).chunk(2, dim=-1)
        k = k.reshape(b, l, self.num_kv_heads, self.head_dim).transpose(1, 2).repeat_interleave(n, 1)
        v = v.reshape(b, l, self.num_kv_heads, self.head_dim).transpose(1, 2).repeat_interleave(n, 1)
        a = q @ k.transpose(-1, -2) / self.head_dim**0.5
        if mask is not None:
            a = a.masked_fill(mask == 0, -1e9)
        return self.out_proj((a.softmax(-1) @ v).transpose(1, 2).reshape(b, l, e))
