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
        new = self.down_proj(x)
        past = 0 if cache is None else cache.shape[1]
        self._make_room(new, past + x.shape[1])
        if cache is not None:
            self._check_cache(cache, batch=x.shape[0])
            self.buffer[:, :past] = cache.clone()
        self.buffer[:, past : past + x.shape[1]] = new
        latents = self.buffer[:, : past + x.shape[1]]
        q = self._split(self.q_proj(x))
        k = self._split(self.k_up_proj(latents))
        v = self._split(self.v_up_proj(latents))

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        scores = scores.masked_fill(_future(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v
        output = self.out_proj(heads.transpose(1, 2).flatten(2))
        return output, latents

    def _split(self, x):
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)
        return x.transpose(1, 2)

    def _make_room(self, new, stop):
        buffer = getattr(self, "buffer", None)
        if (
            buffer is None
            or buffer.shape[0] != new.shape[0]
            or buffer.dtype != new.dtype
            or buffer.shape[1] < stop
        ):
            self.buffer = new.new_zeros(new.shape[0], max(64, 2 * stop), new.shape[2])
        self.buffer = self.buffer.detach()

    def _check_cache(self, cache, batch):
        if cache.ndim != 3 or cache.shape[0] != batch or cache.shape[2] != self.latent_dim:
            raise ValueError("the sizes do not fit")


def _future(scores):
    new, total = scores.shape[-2:]
    positions = torch.ones(new, total, dtype=torch.bool, device=scores.device)
    return positions.triu(diagonal=total - new + 1)
