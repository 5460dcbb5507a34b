# expect: accepted
# problem: mla
import math

import torch
from torch import nn


class MultiHeadLatentAttention(nn.Module):
    """One small up map for every head, in a loop."""

    def __init__(self, d_model, num_heads, latent_dim):
        super().__init__()
        assert d_model % num_heads == 0
        self.head_dim = d_model // num_heads
        self.down = nn.Linear(d_model, latent_dim)
        self.query = nn.Linear(d_model, d_model)
        self.k_up = nn.ModuleList([nn.Linear(latent_dim, self.head_dim) for _ in range(num_heads)])
        self.v_up = nn.ModuleList([nn.Linear(latent_dim, self.head_dim) for _ in range(num_heads)])
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        latent = self.down(x)
        past = 0
        if cache is not None:
            past = cache.shape[1]
            latent = torch.cat([cache, latent], 1)
        positions = torch.arange(latent.shape[1], device=x.device)
        blocked = positions[None] > positions[past:, None]
        heads = []
        for q, up_k, up_v in zip(self.query(x).split(self.head_dim, -1), self.k_up, self.v_up):
            score = q @ up_k(latent).transpose(1, 2) / math.sqrt(self.head_dim)
            score.masked_fill_(blocked, float("-inf"))
            heads.append(torch.softmax(score, -1) @ up_v(latent))
        return [self.out(torch.cat(heads, -1)), latent]
