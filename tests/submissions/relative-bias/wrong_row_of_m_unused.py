# expect: rejected
# problem: relative-bias
# mistake: zero bias for the position itself
# diagnosis: itself-without-bias
import torch
from einops import rearrange
from torch import einsum, nn


class RelativeSelfAttention(nn.Module):
    def __init__(self, dim, heads, max_distance):
        super().__init__()
        assert dim % heads == 0
        self.h, self.m = heads, max_distance
        self.scale = (dim // heads) ** -0.5
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.rel_pos = nn.Embedding(2 * max_distance + 1, heads)
        self.to_out = nn.Linear(dim, dim)

    def bias(self, n, device):
        pos = torch.arange(n, device=device)
        rel = rearrange(pos, "j -> 1 j") - rearrange(pos, "i -> i 1")
        rel = rel.clamp(-self.m, self.m) + self.m
        bias = rearrange(self.rel_pos(rel), "i j h -> h i j")
        return bias * (1 - torch.eye(n, dtype=bias.dtype, device=device))

    def forward(self, x):
        q, k, v = rearrange(self.to_qkv(x), "b n (p h d) -> p b h n d", p=3, h=self.h)
        sim = einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        sim = sim + self.bias(x.shape[1], x.device)
        out = einsum("b h i j, b h j d -> b h i d", sim.softmax(dim=-1), v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))
