# expect: accepted
# problem: mla-full
# Parameters with an axis for the heads, and the down maps without a name that says anything.
import torch
from einops import einsum, rearrange
from torch import nn


class LatentAttention(nn.Module):
    def __init__(self, dim, heads, query_rank, rank, rotary_dim):
        super().__init__()
        if dim % heads:
            raise ValueError("dim")
        if rotary_dim % 2:
            raise ValueError("rotary_dim")
        d = dim // heads
        self.first = nn.Linear(dim, query_rank)
        self.second = nn.Linear(dim, rank)
        self.third = nn.Linear(dim, rotary_dim)
        self.uq = nn.Parameter(torch.randn(heads, query_rank, d) * query_rank**-0.5)
        self.qr = nn.Parameter(torch.randn(heads, query_rank, rotary_dim) * query_rank**-0.5)
        self.uk = nn.Parameter(torch.randn(heads, rank, d) * rank**-0.5)
        self.uv = nn.Parameter(torch.randn(heads, rank, d) * rank**-0.5)
        self.o = nn.Parameter(torch.randn(heads, d, dim) * dim**-0.5)

    def forward(self, x, cache=None):
        a, c, r = self.first(x), self.second(x), self.third(x)
        past = 0 if cache is None else cache[1].shape[-2]
        positions = past + torch.arange(x.shape[-2], device=x.device)
        r = spin(r, positions)
        if cache is not None:
            c, r = torch.cat((cache[0], c), -2), torch.cat((cache[1], r), -2)
        q = einsum(a, self.uq, self.uk, "b i a, h a d, h c d -> b h i c")
        p = spin(einsum(a, self.qr, "b i a, h a r -> b h i r"), positions)
        key = rearrange(torch.cat((c, r), -1), "b j e -> b 1 e j")
        sim = torch.cat((q, p), -1) @ key / (self.uq.shape[-1] + r.shape[-1]) ** 0.5
        late = torch.arange(c.shape[-2], device=x.device) > positions[:, None]
        attn = sim.masked_fill(late, -torch.finfo(sim.dtype).max).softmax(-1)
        return einsum(attn, c, self.uv, self.o, "b h i j, b j c, h c d, h d e -> b i e"), (c, r)


def spin(x, positions):
    n = x.shape[-1]
    angles = positions.float()[:, None] * 10000.0 ** (-torch.arange(0, n, 2, device=x.device) / n)
    x = x.unflatten(-1, (2, n // 2))
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0, :], x[..., 1, :]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -2).flatten(-2)
