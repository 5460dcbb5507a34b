# expect: rejected
# problem: kv-cache-step
# mistake: a causal mask that has grown stands in the state_dict, and a new layer cannot load it
import math

import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.register_buffer("causal", torch.ones(64, 64, dtype=torch.bool).tril())

    def _triangle(self, start, stop):
        if stop > self.causal.shape[0]:
            size = 1 << (stop - 1).bit_length()
            with torch.inference_mode(False):
                self.causal = torch.ones(
                    size, size, dtype=torch.bool, device=self.causal.device
                ).tril()
        return self.causal[start:stop, :stop]

    def _heads(self, t):
        return t.reshape(t.shape[0], t.shape[1], self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x, cache=None):
        if x.shape[-1] != self.embed_dim:
            raise ValueError("x is not embed_dim wide")
        batch, length, width = x.shape
        q, k, v = self._heads(self.q_proj(x)), self._heads(self.k_proj(x)), self._heads(self.v_proj(x))
        past = 0
        if cache is not None:
            past = cache[0].shape[2]
            k = torch.cat((cache[0], k), dim=2)
            v = torch.cat((cache[1], v), dim=2)
        scores = (q / math.sqrt(self.head_dim)) @ k.transpose(-1, -2)
        if length > 1:
            scores = scores.masked_fill(~self._triangle(past, past + length), -math.inf)
        heads = scores.softmax(-1) @ v
        return self.out_proj(heads.transpose(1, 2).reshape(batch, length, width)), (k, v)
