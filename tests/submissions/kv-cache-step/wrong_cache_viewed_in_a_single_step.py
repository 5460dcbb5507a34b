# expect: rejected
# problem: kv-cache-step
# mistake: with one new position the cache is viewed with items and heads as one axis, which not every layout allows
import math

import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def heads(self, t):
        return t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2).contiguous()

    def longer(self, old, new):
        if new.shape[2] > 1:
            return torch.cat([old, new], dim=2)
        b, h, t, d = old.shape
        return torch.cat([old.view(b * h, t, d), new.reshape(b * h, 1, d)], dim=1).view(b, h, t + 1, d)

    def forward(self, x, cache=None):
        q, k, v = self.heads(self.q_proj(x)), self.heads(self.k_proj(x)), self.heads(self.v_proj(x))
        if cache is not None:
            k, v = self.longer(cache[0], k), self.longer(cache[1], v)
        new, every = q.shape[2], k.shape[2]
        later = torch.ones(new, every, dtype=torch.bool, device=x.device).triu(every - new + 1)
        scores = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).masked_fill(later, -1e9)
        y = torch.softmax(scores, dim=-1) @ v
        return self.out_proj(y.transpose(1, 2).flatten(2)), (k, v)
