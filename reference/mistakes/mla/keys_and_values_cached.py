import math

import torch
from torch import nn


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, latent_dim):
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError("the sizes do not fit")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.latent_dim = latent_dim
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.down_proj = nn.Linear(embed_dim, latent_dim)
        self.k_up_proj = nn.Linear(latent_dim, embed_dim)
        self.v_up_proj = nn.Linear(latent_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError("the sizes do not fit")
        latents = self.down_proj(x)
        q = self._split(self.q_proj(x))
        k = self._split(self.k_up_proj(latents))
        v = self._split(self.v_up_proj(latents))
        if cache is not None:
            k = torch.cat((cache[0], k), dim=2)
            v = torch.cat((cache[1], v), dim=2)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        scores = scores.masked_fill(_future(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v
        output = self.out_proj(heads.transpose(1, 2).flatten(2))
        return output, (k, v)

    def _split(self, x):
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)
        return x.transpose(1, 2)

    def _check_cache(self, cache, batch):
        if cache.ndim != 3 or cache.shape[0] != batch or cache.shape[2] != self.latent_dim:
            raise ValueError("the sizes do not fit")


def _future(scores):
    new, total = scores.shape[-2:]
    positions = torch.ones(new, total, dtype=torch.bool, device=scores.device)
    return positions.triu(diagonal=total - new + 1)
