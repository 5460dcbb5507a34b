# expect: rejected
# problem: encoder-block
# mistake: 1 / √E
# diagnosis: scale-by-sqrt-embed-dim
import torch
from einops import rearrange
from torch import einsum, nn


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, mlp_dim, dropout=0.0):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.scale = dim ** -0.5
        self.norms = nn.ModuleList([nn.LayerNorm(dim), nn.LayerNorm(dim)])
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(dim, dim), nn.Dropout(dropout))
        self.net = nn.Sequential(
            nn.Linear(dim, mlp_dim),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(mlp_dim, dim),
            nn.Dropout(dropout),
        )

    def attend(self, x, mask):
        q, k, v = (
            rearrange(t, "b n (h d) -> b h n d", h=self.heads)
            for t in self.to_qkv(x).chunk(3, dim=-1)
        )
        dots = einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        if mask is not None:
            dots = dots.masked_fill(~mask.bool(), -torch.finfo(dots.dtype).max)
        out = einsum("b h i j, b h j d -> b h i d", dots.softmax(dim=-1), v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))

    def forward(self, x, mask=None):
        for norm, f in zip(self.norms, (lambda t: self.attend(t, mask), self.net)):
            x = norm(f(x) + x)
        return x
