# expect: rejected
# problem: mla-full
# mistake: under no_grad long caches have room to grow, into which every continuation writes
import math

import torch
from torch import nn


class RotaryLatentAttention(nn.Module):
    LONG = 256

    def __init__(self, embed_dim, num_heads, query_latent_dim, latent_dim, rope_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        if rope_dim % 2:
            raise ValueError("rope_dim must be even")
        E, H, Q, C, R = embed_dim, num_heads, query_latent_dim, latent_dim, rope_dim
        self.E, self.H, self.C, self.R = E, H, C, R
        self.q_down = nn.Linear(E, Q)
        self.q_up = nn.Linear(Q, E)
        self.q_rope = nn.Linear(Q, H * R)
        self.down = nn.Linear(E, C)
        self.k_rope = nn.Linear(E, R)
        self.k_up = nn.Linear(C, E)
        self.v_up = nn.Linear(C, E)
        self.out_proj = nn.Linear(E, E)

    @staticmethod
    def _turn(x, start):
        L, R = x.shape[-2:]
        theta = 10000.0 ** (-torch.arange(0, R, 2, dtype=torch.float64, device=x.device) / R)
        p = torch.arange(start, start + L, dtype=torch.float64, device=x.device)
        angle = torch.outer(p, theta)
        wide = torch.promote_types(x.dtype, torch.float32)
        cos, sin = angle.cos().to(wide), angle.sin().to(wide)
        a, b = x.to(wide).split(R // 2, dim=-1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1).to(x.dtype)

    def _append(self, old, new):
        T, L = old.shape[1], new.shape[1]
        if T < self.LONG or torch.is_grad_enabled():
            return torch.cat((old, new), dim=1)
        base = old._base
        fits = (
            base is not None
            and getattr(base, "_grows", False)
            and base.is_inference() == torch.is_inference_mode_enabled()
            and base.shape[1] >= T + L
            and base.data_ptr() == old.data_ptr()
            and base.shape[0] == old.shape[0]
            and base.dtype == new.dtype
        )
        if not fits:
            base = new.new_empty(old.shape[0], 2 * (T + L), old.shape[2])
            base._grows = True
            base[:, :T] = old
        base[:, T:T + L] = new
        return base[:, :T + L]

    def forward(self, x, cache=None):
        B, L, E = x.shape
        if E != self.E:
            raise ValueError("x must be E wide")
        H, D, R = self.H, self.E // self.H, self.R
        T = 0
        if cache is not None:
            c0, k0 = cache
            if c0.shape[2] != self.C or k0.shape[2] != R:
                raise ValueError("widths of the cache")
            if c0.shape[1] != k0.shape[1] or c0.shape[0] != B or k0.shape[0] != B:
                raise ValueError("lengths or batches of the cache")
            T = c0.shape[1]
        cq = self.q_down(x)
        q = self.q_up(cq).reshape(B, L, H, D).transpose(1, 2)
        qr = self._turn(self.q_rope(cq).reshape(B, L, H, R).transpose(1, 2), T)
        c, kr = self.down(x), self._turn(self.k_rope(x), T)
        if cache is not None:
            c, kr = self._append(c0, c), self._append(k0, kr)
        k = self.k_up(c).reshape(B, T + L, H, D).permute(0, 2, 3, 1)
        v = self.v_up(c).reshape(B, T + L, H, D).transpose(1, 2)
        scores = (q @ k + qr @ kr.transpose(1, 2)[:, None]) / math.sqrt(D + R)
        i = torch.arange(L, device=x.device)[:, None] + T
        j = torch.arange(T + L, device=x.device)
        scores = scores.masked_fill(j > i, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.out_proj(out.transpose(1, 2).reshape(B, L, E)), (c, kr)
