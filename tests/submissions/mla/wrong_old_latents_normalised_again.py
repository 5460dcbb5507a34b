# expect: rejected
# problem: mla
# mistake: cached and new latents are normalised before use, not before caching
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent):
        super().__init__()
        assert d_model % n_heads == 0
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_dkv = nn.Linear(d_model, d_latent)
        self.W_uk = nn.Linear(d_latent, d_model)
        self.W_uv = nn.Linear(d_latent, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, kv_cache=None):
        B, L, E = x.size()
        c = self.W_dkv(x)
        if kv_cache is not None:
            c = torch.cat([kv_cache, c], dim=1)
        T = c.size(1)
        full, c = c, c / c.norm(dim=-1, keepdim=True)
        # absorbed: queries of the latent's width, one key for all heads
        w_uk = self.W_uk.weight.view(self.n_heads, self.d_head, -1)
        w_uv = self.W_uv.weight.view(self.n_heads, self.d_head, -1)
        q = self.W_q(x).view(B, L, self.n_heads, self.d_head).transpose(1, 2)
        q = q @ w_uk
        att = q @ c.unsqueeze(1).transpose(-2, -1) / math.sqrt(self.d_head)
        future = torch.ones(L, T, dtype=torch.bool, device=x.device).triu(T - L + 1)
        att = F.softmax(att.masked_fill(future, float("-inf")), dim=-1)
        y = att @ c.unsqueeze(1)
        y = y @ w_uv.transpose(-2, -1) + self.W_uv.bias.view(self.n_heads, 1, self.d_head)
        return self.W_o(y.transpose(1, 2).reshape(B, L, E)), full
