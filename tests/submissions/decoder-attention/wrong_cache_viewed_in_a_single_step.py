# expect: rejected
# problem: decoder-attention
# mistake: with one new position the cache is viewed with items and groups as one axis, which not every layout allows
import math

import torch
from torch import nn


class DecoderAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads, window=None):
        super().__init__()
        if embed_dim % num_heads or num_heads % num_kv_heads or (embed_dim // num_heads) % 2:
            raise ValueError("sizes do not divide")
        self.depth, self.window = embed_dim // num_heads, window
        self.shared = num_heads // num_kv_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.depth)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.depth)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def heads(self, t):
        return t.unflatten(-1, (-1, self.depth)).transpose(1, 2).contiguous()

    def turned(self, t, first):
        steps = torch.arange(0, self.depth, 2, device=t.device, dtype=torch.float32) / self.depth
        at = torch.arange(first, first + t.shape[2], device=t.device, dtype=torch.float32)
        angles = at[:, None] * 10000.0**-steps
        one, other = (t.double() if t.dtype == torch.float64 else t.float()).chunk(2, dim=-1)
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([one * cos - other * sin, other * cos + one * sin], dim=-1).to(t.dtype)

    def longer(self, old, new):
        if new.shape[2] > 1:
            return torch.cat([old, new], dim=2)
        b, g, t, d = old.shape
        return torch.cat([old.view(b * g, t, d), new.reshape(b * g, 1, d)], dim=1).view(b, g, t + 1, d)

    def forward(self, x, cache=None):
        first = 0 if cache is None else cache[0].shape[2]
        q = self.turned(self.heads(self.q_proj(x)), first)
        k, v = self.turned(self.heads(self.k_proj(x)), first), self.heads(self.v_proj(x))
        if cache is not None:
            k, v = self.longer(cache[0], k), self.longer(cache[1], v)
        keys, values = (t.repeat_interleave(self.shared, dim=1) for t in (k, v))
        at = torch.arange(first, k.shape[2], device=x.device)[:, None]
        of = torch.arange(k.shape[2], device=x.device)
        hidden = of > at if self.window is None else (of > at) | (of <= at - self.window)
        scores = (q @ keys.transpose(-2, -1) / math.sqrt(self.depth)).masked_fill(hidden, -1e9)
        y = torch.softmax(scores, dim=-1) @ values
        return self.out_proj(y.transpose(1, 2).flatten(2)), (k, v)
