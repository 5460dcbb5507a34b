# expect: rejected
# problem: mla
# mistake: a call with one position records no gradients
import math

import torch
from torch import nn


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, latent_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.num_heads, self.head_dim, self.latent_dim = num_heads, embed_dim // num_heads, latent_dim
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.down_proj = nn.Linear(embed_dim, latent_dim)
        self.up_k = nn.Linear(latent_dim, embed_dim)
        self.up_v = nn.Linear(latent_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _split(self, t):
        b, l, _ = t.shape
        return t.reshape(b, l, self.num_heads, self.head_dim).transpose(1, 2)

    @torch.no_grad()
    def _step(self, x, latents):
        """One position: the latents themselves are keys and values, nothing is expanded."""
        b, _, e = x.shape
        h, d = self.num_heads, self.head_dim
        q = self.q_proj(x).reshape(b, h, d)
        q = torch.einsum("bhd,hdc->bhc", q, self.up_k.weight.reshape(h, d, -1))
        scores = torch.einsum("bhc,btc->bht", q, latents) / math.sqrt(d)
        mean = torch.einsum("bht,btc->bhc", scores.softmax(-1), latents)
        out = torch.einsum("bhc,hdc->bhd", mean, self.up_v.weight.reshape(h, d, -1))
        return self.out_proj((out.reshape(b, e) + self.up_v.bias)[:, None])

    def forward(self, x, cache=None):
        b, l, e = x.shape
        latents = self.down_proj(x)
        if cache is not None:
            if cache.shape[-1] != self.latent_dim:
                raise ValueError("a cache of another width")
            latents = torch.cat((cache, latents), dim=1)
        if l == 1:
            return self._step(x, latents), latents
        total = latents.shape[1]
        q, k, v = self._split(self.q_proj(x)), self._split(self.up_k(latents)), self._split(self.up_v(latents))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)
        later = torch.ones(l, total, dtype=torch.bool, device=x.device).triu(total - l + 1)
        out = scores.masked_fill(later, float("-inf")).softmax(-1) @ v
        return self.out_proj(out.transpose(1, 2).reshape(b, l, e)), latents
