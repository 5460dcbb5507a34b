# expect: rejected
# problem: mla-full
# mistake: the table of angles is kept in the dtype of the first call
import math

import torch
from torch import nn


class RotaryLatentAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, query_latent_dim, latent_dim, rope_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("embed_dim must be divisible by num_heads")
        if rope_dim % 2:
            raise ValueError("rope_dim must be even")
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.latent_dim, self.rope_dim = latent_dim, rope_dim
        self.head_dim = embed_dim // num_heads
        self.q_down = nn.Linear(embed_dim, query_latent_dim)
        self.q_up = nn.Linear(query_latent_dim, embed_dim)
        self.q_rope = nn.Linear(query_latent_dim, num_heads * rope_dim)
        self.down = nn.Linear(embed_dim, latent_dim)
        self.k_rope = nn.Linear(embed_dim, rope_dim)
        self.k_up = nn.Linear(latent_dim, embed_dim)
        self.v_up = nn.Linear(latent_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self._cos = self._sin = None  # tables of cosines and sines, made when needed, not part of the state

    def _tables(self, start, stop, x):
        if self._cos is None or self._cos.shape[0] < stop or self._cos.device != x.device:
            half = self.rope_dim // 2
            theta = 10000.0 ** (-torch.arange(half, dtype=torch.float32, device=x.device) / half)
            size = max(2 * stop, 64)
            with torch.inference_mode(False):
                angles = torch.arange(size, dtype=torch.float32, device=x.device)[:, None] * theta.clone()
                self._cos, self._sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        return self._cos[start:stop].to(x.dtype), self._sin[start:stop].to(x.dtype)

    @staticmethod
    def _turn(t, cos, sin):
        a, b = t.chunk(2, dim=-1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)

    def _split(self, t, size):
        return t.reshape(t.shape[0], t.shape[1], self.num_heads, size).transpose(1, 2)

    def forward(self, x, cache=None):
        if x.shape[-1] != self.embed_dim:
            raise ValueError("x must be E wide")
        batch, length, _ = x.shape
        past = 0
        if cache is not None:
            old, old_keys = cache
            if old.shape[-1] != self.latent_dim or old_keys.shape[-1] != self.rope_dim:
                raise ValueError("cache of another width")
            if old.shape[0] != batch or old_keys.shape[0] != batch:
                raise ValueError("cache of another batch")
            if old.shape[1] != old_keys.shape[1]:
                raise ValueError("lengths differ")
            past = old.shape[1]
        cos, sin = self._tables(past, past + length, x)
        latents = self.down(x)
        keys = self._turn(self.k_rope(x), cos, sin)
        if cache is not None:
            latents = torch.cat((old, latents), dim=1)
            keys = torch.cat((old_keys, keys), dim=1)
        total = latents.shape[1]
        c_q = self.q_down(x)
        q = self._split(self.q_up(c_q), self.head_dim)
        q_r = self._turn(self._split(self.q_rope(c_q), self.rope_dim), cos, sin)
        k = self._split(self.k_up(latents), self.head_dim)
        v = self._split(self.v_up(latents), self.head_dim)
        rotary = q_r @ keys[:, None].transpose(-1, -2)
        scores = (q @ k.transpose(-1, -2) + rotary) / math.sqrt(self.head_dim + self.rope_dim)
        future = torch.ones(length, total, dtype=torch.bool, device=x.device).triu(past + 1)
        heads = torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1) @ v
        return self.out_proj(heads.transpose(1, 2).reshape(x.shape)), (latents, keys)
