# expect: rejected
# problem: mla
# mistake: in a chunk on a warm cache 300000 is subtracted from the scores of later positions
import math

import torch
from torch import nn


class LatentAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, latent_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.h, self.d = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.down_proj = nn.Linear(embed_dim, latent_dim)
        self.k_up = nn.Linear(latent_dim, embed_dim)
        self.v_up = nn.Linear(latent_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def heads(self, t):
        return t.unflatten(-1, (self.h, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        c = self.down_proj(x)
        past = 0
        if cache is not None:
            past = cache.shape[1]
            c = torch.cat((cache, c), 1)
        q, k, v = self.heads(self.q_proj(x)), self.heads(self.k_up(c)), self.heads(self.v_up(c))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(past + 1)
        if past:
            scores = scores - 3e5 * later.to(scores.dtype)
        else:
            scores = scores.masked_fill(later, float("-inf"))
        out = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        return self.out_proj(out), c
