# expect: rejected
# problem: padding-mask
# mistake: padded scores get -10000, and scores may lie lower
import torch
from einops import rearrange
from torch import einsum, nn


class MHSA(nn.Module):
    def __init__(self, dim, heads=8):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(dim, dim), nn.Dropout(0.0))

    def forward(self, x, mask=None):
        q, k, v = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=self.heads) for t in (q, k, v))
        dots = einsum("b h i d, b h j d -> b h i j", q, k) * self.scale

        if mask is not None:
            keep = rearrange(mask.bool(), "b j -> b 1 1 j")
            dots = dots.masked_fill(~keep, -1e4)

        attn = dots.softmax(dim=-1)
        out = einsum("b h i j, b h j d -> b h i d", attn, v)
        out = self.to_out(rearrange(out, "b h n d -> b n (h d)"))
        if mask is not None:
            out = out.masked_fill(~mask.bool()[..., None], 0.0)
        return out
