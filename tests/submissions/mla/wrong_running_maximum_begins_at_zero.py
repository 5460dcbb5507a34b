# expect: rejected
# problem: mla
# mistake: beyond 256 positions the running maximum begins at 0
import math

import torch
from torch import nn


class MultiHeadLatentAttention(nn.Module):
    BLOCK = 256

    def __init__(self, embed_dim, num_heads, latent_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.embed_dim, self.num_heads, self.latent_dim = embed_dim, num_heads, latent_dim
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.down_proj = nn.Linear(embed_dim, latent_dim)
        self.k_up = nn.Linear(latent_dim, embed_dim)
        self.v_up = nn.Linear(latent_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _heads(self, t):
        return t.reshape(t.shape[0], t.shape[1], self.num_heads, self.head_dim).transpose(1, 2)

    def _scores(self, q, latents, rows, start, stop):
        k = self._heads(self.k_up(latents[:, start:stop]))
        scores = (q @ k.transpose(-1, -2)).to(torch.promote_types(q.dtype, torch.float32))
        columns = torch.arange(start, stop, device=q.device)
        return scores.masked_fill(columns > rows[:, None], -math.inf)

    def forward(self, x, cache=None):
        if x.shape[-1] != self.embed_dim:
            raise ValueError("x is not embed_dim wide")
        if cache is not None and cache.shape[-1] != self.latent_dim:
            raise ValueError("the cache is not latent_dim wide")
        batch, length, width = x.shape
        new = self.down_proj(x)
        latents = new if cache is None else torch.cat((cache, new), dim=1)
        total = latents.shape[1]
        rows = torch.arange(total - length, total, device=x.device)
        q = self._heads(self.q_proj(x)) / math.sqrt(self.head_dim)
        if total <= self.BLOCK:
            weights = self._scores(q, latents, rows, 0, total).softmax(-1).to(q.dtype)
            heads = weights @ self._heads(self.v_up(latents))
        else:
            # many positions: make keys and values of one block at a time
            wide = torch.promote_types(q.dtype, torch.float32)
            top = torch.zeros_like(q[..., :1], dtype=wide)
            norm = torch.zeros_like(top)
            heads = torch.zeros_like(q, dtype=wide)
            for start in range(0, total, self.BLOCK):
                stop = min(start + self.BLOCK, total)
                scores = self._scores(q, latents, rows, start, stop)
                higher = torch.maximum(top, scores.amax(-1, keepdim=True).detach())
                share = torch.exp(scores - higher)
                factor = torch.exp(top - higher)
                norm = factor * norm + share.sum(-1, keepdim=True)
                v = self._heads(self.v_up(latents[:, start:stop])).to(wide)
                heads = factor * heads + share @ v
                top = higher
            heads = (heads / norm).to(q.dtype)
        return self.out_proj(heads.transpose(1, 2).reshape(batch, length, width)), latents
