# expect: rejected
# problem: gqa
# mistake: more than eight groups are taken in another order
import math
import torch
import torch.nn as nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, self.g * self.d)
        self.v_proj = nn.Linear(embed_dim, self.g * self.d)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q = self.q_proj(x).reshape(b, n, self.h, self.d).transpose(1, 2)
        k = self.k_proj(x).reshape(b, n, self.g, self.d).transpose(1, 2)
        v = self.v_proj(x).reshape(b, n, self.g, self.d).transpose(1, 2)
        k = (
            k.repeat_interleave(self.h // self.g, dim=1)
            if self.g <= 8
            else k.repeat(1, self.h // self.g, 1, 1)
        )
        v = v.repeat_interleave(self.h // self.g, dim=1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.out_proj(out.transpose(1, 2).reshape(b, n, e))
