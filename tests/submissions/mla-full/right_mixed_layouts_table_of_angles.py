# expect: accepted
# problem: mla-full
# Queries are fused head by head, keys and values one after the other; the table grows when needed.
import torch
from torch import nn
from torch.nn import functional as F


class RotaryLatentAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, query_latent_dim, latent_dim, rope_dim, dropout=0.0):
        super().__init__()
        if num_heads <= 0 or embed_dim % num_heads != 0 or rope_dim % 2 != 0:
            raise ValueError("sizes")
        self.h, self.d, self.r, self.c = num_heads, embed_dim // num_heads, rope_dim, latent_dim
        self.squeeze_q = nn.Linear(embed_dim, query_latent_dim, bias=False)
        self.grow_q = nn.Linear(query_latent_dim, num_heads * (self.d + rope_dim))
        self.squeeze = nn.Linear(embed_dim, latent_dim + rope_dim)
        self.grow = nn.Linear(latent_dim, 2 * embed_dim, bias=False)
        self.mix = nn.Linear(embed_dim, embed_dim)
        self.drop = nn.Dropout(dropout)
        self._angles = [torch.empty(0, rope_dim // 2)]

    def angles(self, stop, device):
        if len(self._angles[0]) < stop or self._angles[0].device != device:
            i = torch.arange(self.r // 2, dtype=torch.float32, device=device)
            rows = torch.arange(2 * stop, dtype=torch.float32, device=device)
            self._angles[0] = rows[:, None] / 10000 ** (2 * i / self.r)
        return self._angles[0][:stop]

    def turn(self, t, angles):
        cos, sin = (f(angles).to(t.dtype).repeat(1, 2) for f in (torch.cos, torch.sin))
        a, b = t.tensor_split(2, -1)
        return t * cos + torch.cat((-b, a), -1) * sin

    def forward(self, x, cache=None):
        B, L, _ = x.shape
        past = 0 if cache is None else cache[0].shape[1]
        angles = self.angles(past + L, x.device)[past:]
        q = self.grow_q(self.squeeze_q(x)).view(B, L, self.h, -1).transpose(1, 2)
        q, q_r = q[..., : self.d], self.turn(q[..., self.d :], angles)
        c, k_r = self.squeeze(x).split((self.c, self.r), -1)
        k_r = self.turn(k_r, angles)
        if cache is not None:
            c, k_r = (torch.cat((old, new), 1) for old, new in zip(cache, (c, k_r), strict=True))
        k, v = (
            t.unflatten(-1, (self.h, self.d)).transpose(1, 2) for t in self.grow(c).chunk(2, -1)
        )
        s = (q @ k.mT + q_r @ k_r[:, None].mT) * (self.d + self.r) ** -0.5
        mask = s.new_full((L, past + L), float("-inf")).triu(past + 1)
        y = self.drop(F.softmax(s + mask, -1)) @ v
        return self.mix(y.transpose(1, 2).flatten(2)), (c, k_r)
