# expect: accepted
# problem: mla-full
import torch
from torch import nn


class RotaryLatentAttention(nn.Module):
    def __init__(self, E, H, Q, C, R):
        super().__init__()
        if E % H or R % 2:
            raise ValueError
        sizes = [(E, Q), (Q, E), (Q, H * R), (E, C), (E, R), (C, E), (C, E), (E, E)]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in sizes)
        self.H = H

    def forward(self, x, cache=None):
        squeeze_q, stretch_q, angle_q, squeeze, angle_k, stretch_k, stretch_v, mix = self.layers
        B, L, _ = x.shape
        T = 0 if cache is None else cache[0].shape[1]
        spin = self.rotation(T, L, angle_k.out_features, x)

        def fold(t):  # one head in one batch item: (B·H, length, D)
            return t.unflatten(-1, (self.H, -1)).transpose(1, 2).flatten(0, 1)

        c, r = squeeze(x), torch.einsum("blr,lrs->bls", angle_k(x), spin)
        if cache is not None:
            c, r = torch.cat([cache[0], c], 1), torch.cat([cache[1], r], 1)
        a = squeeze_q(x)
        q_r = torch.einsum("blr,lrs->bls", fold(angle_q(a)), spin)
        q = torch.cat([fold(stretch_q(a)), q_r], -1)
        k = torch.cat([fold(stretch_k(c)), r.repeat_interleave(self.H, 0)], -1)
        s = torch.bmm(q, k.transpose(1, 2)) / q.shape[-1] ** 0.5
        s = s + torch.full_like(s[0], float("-inf")).triu(T + 1)
        s = s - s.amax(-1, keepdim=True)
        w = s.exp() / s.exp().sum(-1, keepdim=True)
        y = torch.bmm(w, fold(stretch_v(c))).unflatten(0, (B, -1)).transpose(1, 2).flatten(2)
        return mix(y), (c, r)

    def rotation(self, T, L, R, x):
        """One matrix (R, R) for each position."""
        i = torch.arange(R // 2, device=x.device)
        angle = torch.arange(T, T + L, device=x.device)[:, None] * 10000.0 ** (-2 * i / R)
        turns = torch.zeros(L, R, R, device=x.device)
        turns[:, i, i] = turns[:, i + R // 2, i + R // 2] = angle.cos()
        turns[:, i, i + R // 2], turns[:, i + R // 2, i] = angle.sin(), -angle.sin()
        return turns.to(x.dtype)
