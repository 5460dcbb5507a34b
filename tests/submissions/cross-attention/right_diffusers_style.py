# expect: accepted
# problem: cross-attention
import torch
from einops import rearrange, repeat
from torch import einsum, nn


def exists(val):
    return val is not None


class CrossAttention(nn.Module):
    def __init__(self, query_dim, heads=8, context_dim=None, dropout=0.0):
        super().__init__()
        assert query_dim % heads == 0
        context_dim = context_dim if exists(context_dim) else query_dim
        self.scale = (query_dim // heads) ** -0.5
        self.heads = heads

        self.to_q = nn.Linear(query_dim, query_dim, bias=False)
        self.to_k = nn.Linear(context_dim, query_dim, bias=False)
        self.to_v = nn.Linear(context_dim, query_dim, bias=False)
        self.to_out = nn.Sequential(nn.Linear(query_dim, query_dim), nn.Dropout(dropout))

    def forward(self, x, context=None, mask=None):
        h = self.heads
        q = self.to_q(x)
        context = context if exists(context) else x
        k = self.to_k(context)
        v = self.to_v(context)

        q, k, v = map(lambda t: rearrange(t, "b n (h d) -> (b h) n d", h=h), (q, k, v))
        sim = einsum("b i d, b j d -> b i j", q, k) * self.scale
        if exists(mask):
            mask = rearrange(mask.bool(), "b ... -> b (...)")
            max_neg_value = -torch.finfo(sim.dtype).max
            mask = repeat(mask, "b j -> (b h) () j", h=h)
            sim.masked_fill_(~mask, max_neg_value)

        attn = sim.softmax(dim=-1)
        out = einsum("b i j, b j d -> b i d", attn, v)
        out = rearrange(out, "(b h) n d -> b n (h d)", h=h)
        return self.to_out(out)
