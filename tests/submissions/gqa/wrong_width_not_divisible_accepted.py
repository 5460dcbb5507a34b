# expect: rejected
# problem: gqa
# mistake: rounds the head size down
# diagnosis: sizes-not-dividing-accepted
import torch
from einops import rearrange
from torch import einsum, nn


class GQA(nn.Module):
    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        if heads % kv_heads:
            raise ValueError("sizes do not divide")
        self.h, self.g, self.d = heads, kv_heads, dim // heads
        self.wq = nn.Linear(dim, heads * self.d, bias=False)
        self.wk = nn.Linear(dim, kv_heads * self.d, bias=False)
        self.wv = nn.Linear(dim, kv_heads * self.d, bias=False)
        self.wo = nn.Linear(heads * self.d, dim, bias=False)

    def forward(self, x, mask=None):
        # b 批次, g 组, r 组内的头, l/s 位置
        q = rearrange(self.wq(x), "b l (g r d) -> b g r l d", g=self.g, d=self.d)
        k = rearrange(self.wk(x), "b s (g d) -> b g s d", g=self.g)
        v = rearrange(self.wv(x), "b s (g d) -> b g s d", g=self.g)
        s = einsum("b g r l d, b g s d -> b g r l s", q, k) * self.d**-0.5
        s = s.flatten(1, 2)
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        p = s.softmax(-1).unflatten(1, (self.g, -1))
        o = einsum("b g r l s, b g s d -> b g r l d", p, v)
        return self.wo(rearrange(o, "b g r l d -> b l (g r d)"))
