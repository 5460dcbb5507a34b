# expect: rejected
# problem: mhsa
# mistake: a table that was made under inference_mode is used in training afterwards
import math

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.h, self.d = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.scale = None

    def forward(self, x, mask=None):
        if self.scale is None or self.scale.dtype != x.dtype:
            self.scale = torch.full((self.h, 1, 1), 1 / math.sqrt(self.d), dtype=x.dtype)
        q, k, v = (
            one(x).unflatten(-1, (self.h, self.d)).transpose(1, 2)
            for one in (self.q_proj, self.k_proj, self.v_proj)
        )
        scores = (q @ k.mT) * self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        return self.out_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
