# expect: rejected
# problem: mla-full
# mistake: a cache whose batch size divides that of x is repeated, as for beams that share a prefix, instead of refused
import math

import torch
import torch.nn.functional as F
from torch import nn


def _tables(length, rope_dim, device):
    angles = torch.arange(length, device=device, dtype=torch.float64)[:, None] * 10000.0 ** (
        -torch.arange(0, rope_dim, 2, device=device, dtype=torch.float64) / rope_dim
    )
    return angles.cos(), angles.sin()


def _turn(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


class RotaryLatentAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, query_latent_dim, latent_dim, rope_dim):
        super().__init__()
        if embed_dim % num_heads or rope_dim % 2:
            raise ValueError("num_heads must divide embed_dim, and rope_dim be even")
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.latent_dim = latent_dim
        self.rope_dim = rope_dim
        self.q_down = nn.Linear(embed_dim, query_latent_dim, bias=False)
        self.q_up = nn.Linear(query_latent_dim, embed_dim, bias=False)
        self.q_rope = nn.Linear(query_latent_dim, num_heads * rope_dim, bias=False)
        self.down = nn.Linear(embed_dim, latent_dim, bias=False)
        self.k_rope = nn.Linear(embed_dim, rope_dim, bias=False)
        self.k_up = nn.Linear(latent_dim, embed_dim, bias=False)
        self.v_up = nn.Linear(latent_dim, embed_dim, bias=False)
        self.out = nn.Linear(embed_dim, embed_dim, bias=False)

    def _split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.num_heads, -1).transpose(1, 2)

    def _cos_sin(self, start, stop, like):
        cos, sin = _tables(stop, self.rope_dim, like.device)
        return cos[start:].to(like.dtype), sin[start:].to(like.dtype)

    def _attend(self, q, k, v, past):
        length, total = q.shape[2], k.shape[2]
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim + self.rope_dim)
        later = torch.ones(length, total, dtype=torch.bool, device=q.device).triu(past + 1)
        return scores.masked_fill(later, -1e9).softmax(-1) @ v

    def forward(self, x, cache=None):
        B, L, E = x.shape
        past = 0
        if cache is not None:
            old_latents, old_keys = cache
            past = old_latents.shape[1]
            if old_latents.shape[0] == old_keys.shape[0] and B % old_latents.shape[0] == 0:
                beams = B // old_latents.shape[0]  # several continuations of one prefix
                old_latents = old_latents.repeat_interleave(beams, dim=0)
                old_keys = old_keys.repeat_interleave(beams, dim=0)
            if old_latents.shape != (B, past, self.latent_dim) or old_keys.shape != (B, past, self.rope_dim):
                raise ValueError("the cache does not fit")
        cos, sin = self._cos_sin(past, past + L, x)
        latents, keys = self.down(x), _turn(self.k_rope(x), cos, sin)
        if cache is not None:
            latents, keys = torch.cat((old_latents, latents), 1), torch.cat((old_keys, keys), 1)
        c_q = self.q_down(x)
        q = torch.cat((self._split(self.q_up(c_q)), _turn(self._split(self.q_rope(c_q)), cos, sin)), -1)
        k = torch.cat((self._split(self.k_up(latents)), keys[:, None].expand(-1, self.num_heads, -1, -1)), -1)
        v = self._split(self.v_up(latents))
        heads = self._attend(q, k, v, past)
        return self.out(heads.transpose(1, 2).reshape(B, L, E)), (latents, keys)
