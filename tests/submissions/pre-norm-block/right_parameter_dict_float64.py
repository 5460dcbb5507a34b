# expect: accepted
# problem: pre-norm-block
"""Weights in a ParameterDict that start at random, norms too; all in float64."""

import torch
from torch import nn


class DecoderBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads, ffn_dim):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError
        D = embed_dim // num_heads
        if num_heads % num_kv_heads != 0 or D % 2 != 0:
            raise ValueError
        self.shape = (num_heads, num_kv_heads, D)
        P = lambda *s: nn.Parameter(torch.empty(*s).normal_(0, 0.05))
        self.p = nn.ParameterDict(
            {
                "norm1": P(embed_dim),
                "q": P(num_heads * D, embed_dim),
                "k": P(num_kv_heads * D, embed_dim),
                "v": P(num_kv_heads * D, embed_dim),
                "o": P(embed_dim, embed_dim),
                "norm2": P(embed_dim),
                "gate": P(ffn_dim, embed_dim),
                "up": P(ffn_dim, embed_dim),
                "down": P(embed_dim, ffn_dim),
            }
        )
        self.register_buffer("inv", 10000.0 ** (-torch.arange(0, D, 2).double() / D), persistent=False)

    def forward(self, x):
        H, G, D = self.shape
        w = {k: v.double() for k, v in self.p.items()}
        if x.shape[-1] != H * D:
            raise ValueError("width")
        z = x.double()
        B, L, E = z.shape
        rms = lambda t, n: t / (t.square().mean(-1, keepdim=True) + 1e-6).sqrt() * w[n]
        n = rms(z, "norm1")
        inv = 10000.0 ** (-torch.arange(0, D, 2).double() / D)
        ang = torch.arange(L).double()[:, None] * inv
        cos, sin = ang.cos(), ang.sin()

        def heads(name, count, turn):
            t = torch.einsum("ble,fe->blf", n, w[name]).view(B, L, count, D).permute(0, 2, 1, 3)
            if turn:
                a, b = t[..., : D // 2], t[..., D // 2 :]
                t = torch.cat((a * cos - b * sin, b * cos + a * sin), -1)
            return t.unsqueeze(2).expand(B, count, H // count, L, D).flatten(1, 2)

        q, k, v = heads("q", H, True), heads("k", G, True), heads("v", G, False)
        s = (q @ k.mT) / D**0.5
        e = (s - s.tril().sub(torch.ones(L, L).triu(1) * 1e9).amax(-1, keepdim=True).detach()).clamp(max=0)
        e = e.exp().tril()
        a = e / e.sum(-1, keepdim=True)
        y = z + (a @ v).transpose(1, 2).flatten(2) @ w["o"].T
        m = rms(y, "norm2")
        g = m @ w["gate"].T
        y = y + (g * torch.sigmoid(g) * (m @ w["up"].T)) @ w["down"].T
        return y.to(x.dtype).transpose(0, 1).contiguous().transpose(0, 1)
