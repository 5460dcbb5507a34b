# expect: rejected
# problem: mhsa
# mistake: the mask is read as (key, query)
# diagnosis: mask-transposed
import torch
from einops import rearrange
from torch import einsum, nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        q, k, v = (
            rearrange(t, "b n (h d) -> b h n d", h=self.heads)
            for t in self.to_qkv(x).chunk(3, dim=-1)
        )
        sim = einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        if mask is not None:
            sim = sim.masked_fill(mask.transpose(-1, -2) == 0, -torch.finfo(sim.dtype).max)
        out = einsum("b h i j, b h j d -> b h i d", sim.softmax(-1), v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))
