# expect: rejected
# problem: mla
# mistake: future scores get the lowest number of float16, and scores may lie lower
# diagnosis: hidden-scores-not-low-enough
import torch
from torch import nn


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, latent_dim):
        super().__init__()
        assert embed_dim % num_heads == 0
        sizes = [(embed_dim, embed_dim), (embed_dim, latent_dim)]
        sizes += [(latent_dim, embed_dim)] * 2 + [(embed_dim, embed_dim)]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in sizes)
        self.num_heads = num_heads

    def forward(self, x, cache=None):
        to_q, squeeze, stretch_k, stretch_v, mix = self.layers
        c = torch.cat([cache, squeeze(x)], 1) if cache is not None else squeeze(x)
        # one head in one batch item: (B·H, length, D)
        B, L, E = x.shape
        fold = lambda t: (
            t.reshape(B, -1, self.num_heads, E // self.num_heads).transpose(1, 2).flatten(0, 1)
        )
        q, k, v = fold(to_q(x)), fold(stretch_k(c)), fold(stretch_v(c))
        s = torch.bmm(q, k.transpose(1, 2)) * (E // self.num_heads) ** -0.5
        later = torch.ones_like(s[0]).triu(s.shape[2] - L + 1) > 0
        s = s.masked_fill(later, torch.finfo(torch.float16).min)
        y = torch.bmm(s.softmax(-1), v).unflatten(0, (B, -1)).transpose(1, 2).flatten(2)
        return mix(y), c
