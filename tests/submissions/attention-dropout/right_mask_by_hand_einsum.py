# expect: accepted
# problem: attention-dropout
import torch
from einops import rearrange
from torch import Tensor, einsum, nn


class MHA(nn.Module):
    def __init__(self, dim: int, heads: int, dropout: float = 0.0):
        super().__init__()
        if dim % heads:
            raise ValueError("dim must be divisible by heads")
        self.heads, self.scale, self.p = heads, (dim // heads) ** -0.5, dropout
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_kv = nn.ModuleList([nn.Linear(dim, dim, bias=False) for _ in range(2)])
        self.to_out = nn.Linear(dim, dim)

    def drop(self, w: Tensor) -> Tensor:
        if not self.training or self.p == 0.0:
            return w
        keep = torch.empty_like(w).bernoulli_(1.0 - self.p)
        return w * keep / (1.0 - self.p)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None):
        q, k, v = self.to_q(q), self.to_kv[0](k), self.to_kv[1](v)
        q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=self.heads) for t in (q, k, v))
        sim = einsum("b h i d, b h j d -> b h i j", q * self.scale, k)
        if mask is not None:
            sim = sim.masked_fill(mask == 0, torch.finfo(sim.dtype).min)
        attn = sim.softmax(dim=-1)
        out = einsum("b h i j, b h j d -> b h i d", self.drop(attn), v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)")), attn
