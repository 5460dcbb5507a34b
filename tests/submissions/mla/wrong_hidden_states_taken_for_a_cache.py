# expect: rejected
# problem: mla
# mistake: a cache as wide as x is taken for earlier inputs and squeezed, where it must raise
import math

import torch
from torch import nn


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, latent_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("heads do not divide the width")
        self.heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.down_proj = nn.Linear(embed_dim, latent_dim)
        self.k_up_proj = nn.Linear(latent_dim, embed_dim)
        self.v_up_proj = nn.Linear(latent_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        latent = self.down_proj(x)
        if cache is not None:
            if cache.size(-1) == x.size(-1) != latent.size(-1):
                cache = self.down_proj(cache)
            latent = torch.cat([cache, latent], dim=1)
        q, k, v = (
            one.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for one in (self.q_proj(x), self.k_up_proj(latent), self.v_up_proj(latent))
        )
        scores = q @ k.mT / math.sqrt(q.size(-1))
        future = torch.ones_like(scores[0, 0]).triu(k.size(-2) - q.size(-2) + 1)
        weights = scores.masked_fill(future == 1, -math.inf).softmax(-1)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2)), latent
