# expect: accepted
# problem: mqa
import torch
from einops import rearrange
from torch import einsum, nn


class MQA(nn.Module):
    def __init__(self, dim, heads=8, dim_head=None):
        super().__init__()
        dim_head = dim_head if dim_head is not None else dim // heads
        assert dim_head * heads == dim
        self.heads, self.scale = heads, dim_head**-0.5
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_kv = nn.Linear(dim, dim_head * 2, bias=False)
        self.to_out = nn.Linear(dim, dim, bias=False)

    def forward(self, x, mask=None):
        q = rearrange(self.to_q(x), "b n (h d) -> b h n d", h=self.heads) * self.scale
        k, v = self.to_kv(x).chunk(2, dim=-1)
        sim = einsum("b h i d, b j d -> b h i j", q, k)
        if mask is not None:
            sim = sim.masked_fill(~mask.bool(), -torch.finfo(sim.dtype).max)
        attn = (sim - sim.amax(dim=-1, keepdim=True).detach()).softmax(dim=-1)
        out = einsum("b h i j, b j d -> b h i d", attn, v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))
