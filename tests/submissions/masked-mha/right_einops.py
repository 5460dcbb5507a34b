# expect: accepted
# problem: masked-mha
import torch
from einops import einsum, rearrange
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads=8):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_kv = nn.Linear(dim, dim * 2, bias=False)
        self.to_out = nn.Sequential(nn.Linear(dim, dim), nn.Dropout(0.0))

    def forward(self, q, k, v, mask=None):
        w_k, w_v = self.to_kv.weight.chunk(2, dim=0)
        q, k, v = self.to_q(q), k @ w_k.t(), v @ w_v.t()
        q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=self.heads) for t in (q, k, v))
        sim = einsum(q, k, "b h i d, b h j d -> b h i j") * self.scale
        if mask is not None:
            sim = sim.masked_fill(mask == 0, -torch.finfo(sim.dtype).max)
        attn = sim.softmax(dim=-1)
        out = rearrange(einsum(attn, v, "b h i j, b h j d -> b h i d"), "b h n d -> b n (h d)")
        return self.to_out(out)
