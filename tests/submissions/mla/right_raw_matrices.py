# expect: accepted
# problem: mla
import math

import torch
from torch import nn


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, latent_dim):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads = num_heads

        def matrix(rows, columns):
            return nn.Parameter(torch.empty(rows, columns).normal_(std=rows**-0.5))

        self.W_uv = matrix(latent_dim, embed_dim)
        self.W_uk = matrix(latent_dim, embed_dim)
        self.W_dkv = matrix(embed_dim, latent_dim)
        self.W_q = matrix(embed_dim, embed_dim)
        self.W_o = matrix(embed_dim, embed_dim)
        self.b_o = nn.Parameter(torch.zeros(embed_dim))

    def forward(self, x, kv_cache=None):
        c = x @ self.W_dkv
        c = c if kv_cache is None else torch.cat([kv_cache, c], dim=1)
        q, k, v = x @ self.W_q, c @ self.W_uk, c @ self.W_uv
        B, L, E = q.shape
        S, H = k.shape[1], self.num_heads
        q, k, v = (t.view(B, -1, H, E // H).transpose(1, 2) for t in (q, k, v))
        s = q @ k.mT / math.sqrt(E // H)
        keep = torch.ones(L, S, device=x.device).tril(S - L).bool()
        s = s.where(keep, float("-inf"))
        s = s - s.logsumexp(-1, keepdim=True)
        return (s.exp() @ v).transpose(1, 2).reshape(B, L, E) @ self.W_o + self.b_o, c
