# expect: rejected
# problem: pre-norm-block
# mistake: refuses one head alone
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Norm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.g = nn.Parameter(torch.ones(n))

    def forward(self, x):
        wide = x.double()
        rms = (wide.norm(dim=-1, keepdim=True) ** 2 / x.size(-1) + 1e-6).sqrt()
        return (wide / rms * self.g).to(x.dtype)


class MLP(nn.Module):
    def __init__(self, n, hidden):
        super().__init__()
        self.gate_up = nn.Linear(n, 2 * hidden, bias=False)
        self.down = nn.Linear(hidden, n, bias=False)

    def forward(self, x):
        a, b = self.gate_up(x).chunk(2, -1)
        return self.down(a * a.sigmoid() * b)


class DecoderBlock(nn.Module):
    def __init__(self, dim, heads, kv_heads, hidden_dim):
        super().__init__()
        if heads < 2 or dim % heads or heads % kv_heads or (dim // heads) & 1:
            raise ValueError("sizes")
        self.heads, self.kv_heads, self.dh = heads, kv_heads, dim // heads
        self.norm_a, self.norm_b = Norm(dim), Norm(dim)
        self.to_q = nn.Linear(dim, dim)
        self.to_k = nn.Linear(dim, kv_heads * self.dh)
        self.to_v = nn.Linear(dim, kv_heads * self.dh)
        self.to_out = nn.Linear(dim, dim)
        self.ff = MLP(dim, hidden_dim)

    def turn(self, t):
        n, half = t.shape[2], self.dh // 2
        w = torch.exp(-math.log(10000.0) * torch.arange(half, device=t.device) * 2 / self.dh)
        angle = torch.arange(1, n + 1, device=t.device).unsqueeze(1) * w
        angle = torch.cat([angle, angle], 1)
        swapped = torch.roll(t, half, -1)
        swapped = torch.cat([-swapped[..., :half], swapped[..., half:]], -1)
        return t * angle.cos().to(t.dtype) + swapped * angle.sin().to(t.dtype)

    def heads_of(self, t, n):
        return t.unflatten(-1, (n, self.dh)).movedim(2, 1)

    def forward(self, x):
        z = self.norm_a(x)
        q = self.turn(self.heads_of(self.to_q(z), self.heads))
        k = self.turn(self.heads_of(self.to_k(z), self.kv_heads))
        v = self.heads_of(self.to_v(z), self.kv_heads)
        index = torch.arange(self.heads, device=x.device) // (self.heads // self.kv_heads)
        k, v = k[:, index], v[:, index]
        s = q @ k.mT * self.dh**-0.5
        s = s + torch.ones_like(s[0, 0]).triu(1) * (-1e9 if s.dtype != torch.float16 else -6e4)
        h = x + self.to_out((F.softmax(s, -1) @ v).movedim(1, 2).flatten(2))
        return h + self.ff(self.norm_b(h))
