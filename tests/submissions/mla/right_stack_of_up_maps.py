# expect: accepted
# problem: mla
import torch
from torch import nn


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, latent_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("heads")
        self.h = num_heads
        self.up = nn.Parameter(torch.randn(2, latent_dim, embed_dim) / latent_dim**0.5)
        self.query = nn.Linear(embed_dim, embed_dim)
        self.latent = nn.Linear(embed_dim, latent_dim)
        self.out = nn.Linear(embed_dim, embed_dim)

    def heads(self, t):
        return t.unflatten(-1, (self.h, -1)).transpose(1, 2)

    def forward(self, x, cache=None):
        new = self.latent(x)
        cache = new if cache is None else torch.cat([cache, new], dim=1)
        q = self.heads(self.query(x))
        k, v = (self.heads(cache @ w) for w in self.up)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        past = cache.shape[1] - x.shape[1]
        late = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(past + 1)
        scores = scores.masked_fill(late, float("-inf"))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2)), cache
