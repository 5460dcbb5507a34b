# expect: rejected
# problem: mqa
# mistake: divides by the square root of E
# diagnosis: scale-by-sqrt-embed-dim
import torch
from einops import rearrange
from torch import einsum, nn


class MultiQueryAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads, self.scale = heads, dim**-0.5
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_k = nn.Linear(dim, dim // heads, bias=False)
        self.to_v = nn.Linear(dim, dim // heads, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        q = rearrange(self.to_q(x), "b n (h d) -> b h n d", h=self.heads)
        k, v = self.to_k(x), self.to_v(x)
        sim = einsum("bhid,bjd->bhij", q, k) * self.scale
        if mask is not None:
            sim = sim.masked_fill(mask == 0, -torch.finfo(sim.dtype).max)
        out = einsum("bhij,bjd->bhid", sim.softmax(-1), v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))
