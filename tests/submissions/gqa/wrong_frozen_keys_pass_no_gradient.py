# expect: rejected
# problem: gqa
# mistake: where the map of the keys is frozen, no gradient reaches the input through it
import math
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads or num_heads % num_kv_heads:
            raise ValueError("sizes do not divide")
        self.H, self.G, self.D = num_heads, num_kv_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.D)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.D)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _keys(self, x):
        frozen = not any(p.requires_grad for p in self.k_proj.parameters())
        if frozen and all(p.requires_grad for p in self.q_proj.parameters()):
            with torch.no_grad():
                return self.k_proj(x)
        return self.k_proj(x)

    def forward(self, x, mask=None):
        B, L, E = x.shape
        q = self.q_proj(x).view(B, L, self.H, self.D).transpose(1, 2)
        k = self._keys(x).view(B, L, self.G, self.D).transpose(1, 2)
        v = self.v_proj(x).view(B, L, self.G, self.D).transpose(1, 2)
        k = k.repeat_interleave(self.H // self.G, dim=1)
        v = v.repeat_interleave(self.H // self.G, dim=1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.D)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        return self.out_proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, L, E))
