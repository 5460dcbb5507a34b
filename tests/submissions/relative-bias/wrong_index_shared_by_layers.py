# expect: rejected
# problem: relative-bias
# mistake: the index of a length is kept for all layers, whatever their max_distance
import math

import torch
from torch import nn

_rows = {}


def _rows_for(L, m, device):
    def make():
        at = torch.arange(L)
        return (at[None] - at[:, None]).clamp(-m, m) + m

    if L < 16:
        return make().to(device)
    key = (L, min(m, L))
    if key not in _rows:
        with torch.inference_mode(False):
            _rows[key] = make()
    return _rows[key].to(device)


class RelativeAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, max_distance):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.num_heads, self.max_distance = num_heads, max_distance
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.table = nn.Parameter(torch.randn(2 * max_distance + 1, num_heads) * 0.02)

    def forward(self, x):
        B, L, E = x.shape
        split = lambda t: t.view(B, L, self.num_heads, E // self.num_heads).transpose(1, 2)
        q, k, v = split(self.q_proj(x)), split(self.k_proj(x)), split(self.v_proj(x))
        rows = _rows_for(L, self.max_distance, x.device)
        bias = self.table[rows.clamp(max=2 * self.max_distance)].permute(2, 0, 1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + bias
        y = torch.softmax(scores, -1) @ v
        return self.out_proj(y.transpose(1, 2).reshape(B, L, E))
