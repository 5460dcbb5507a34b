# expect: rejected
# problem: kv-cache-step
# mistake: one buffer for all continuations, cache is a view of it
# diagnosis: one-buffer-for-all
import math

import torch
import torch.nn as nn


class CachedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def split(self, x):
        B, L, E = x.shape
        return x.view(B, L, self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x, cache=None):
        B, L, E = x.shape
        q = self.split(self.q_proj(x))
        k = self.split(self.k_proj(x))
        v = self.split(self.v_proj(x))
        if cache is None:
            T = 0
            self.k_buffer = k.new_zeros(B, self.num_heads, 256, self.head_dim)
            self.v_buffer = torch.zeros_like(self.k_buffer)
        else:
            T = cache[0].shape[2]
        with torch.no_grad():
            self.k_buffer[:, :, T : T + L] = k
            self.v_buffer[:, :, T : T + L] = v
        k, v = self.k_buffer[:, :, : T + L], self.v_buffer[:, :, : T + L]
        S = k.shape[2]
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        causal = torch.ones(L, S, dtype=torch.bool, device=x.device).tril(diagonal=S - L)
        scores = scores.masked_fill(~causal, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        out = out.transpose(1, 2).reshape(B, L, E)
        return self.out_proj(out), (k, v)
