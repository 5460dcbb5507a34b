# expect: rejected
# problem: mla
# mistake: queries and keys are rotated by their positions
import torch
from einops import rearrange
from torch import einsum, nn


class MLA(nn.Module):
    def __init__(self, dim, heads, kv_rank):
        super().__init__()
        assert dim % heads == 0
        self.h = heads
        self.scale = (dim // heads) ** -0.5
        self.to_q = nn.Linear(dim, dim)
        self.compress = nn.Linear(dim, kv_rank)
        self.expand_k = nn.Linear(kv_rank, dim)
        self.expand_v = nn.Linear(kv_rank, dim)
        self.to_out = nn.Linear(dim, dim)

    def heads(self, t):
        return rearrange(t, "b n (h d) -> b h n d", h=self.h)

    def forward(self, x, cache=None):
        z = self.compress(x)
        if cache is not None:
            z = torch.cat((cache, z), dim=1)
        q, k, v = (
            self.heads(self.to_q(x)),
            self.heads(self.expand_k(z)),
            self.heads(self.expand_v(z)),
        )
        j, d = k.shape[2], k.shape[3] // 2
        angle = torch.arange(j, device=x.device)[:, None] * 10000.0 ** (
            -torch.arange(d, device=x.device) / d
        )
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        turn = lambda t, c, s: torch.cat(
            (
                t[..., :d] * c - t[..., d : 2 * d] * s,
                t[..., :d] * s + t[..., d : 2 * d] * c,
                t[..., 2 * d :],
            ),
            -1,
        )
        q, k = turn(q, cos[-q.shape[2] :], sin[-q.shape[2] :]), turn(k, cos, sin)
        sim = einsum("b h i d, b h j d -> b h i j", q * self.scale, k)
        i, j = sim.shape[-2:]
        sim = sim.masked_fill(
            torch.ones(i, j, device=x.device).triu(j - i + 1).bool(), float("-inf")
        )
        out = einsum("b h i j, b h j d -> b h i d", sim.softmax(dim=-1), v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)")), z
