# expect: accepted
# problem: gqa
import torch
from torch import einsum, nn
from einops import rearrange


class GQA(nn.Module):
    """Never repeats k and v: the group is an axis of its own."""

    def __init__(self, d_model, heads, kv_heads):
        super().__init__()
        assert d_model % heads == 0 and heads % kv_heads == 0
        self.g = kv_heads
        self.d = d_model // heads
        self.to_q = nn.Linear(d_model, d_model, bias=False)
        self.to_k = nn.Linear(d_model, kv_heads * self.d, bias=False)
        self.to_v = nn.Linear(d_model, kv_heads * self.d, bias=False)
        self.to_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        q = rearrange(self.to_q(x), "b l (g r d) -> b g r l d", g=self.g, d=self.d)
        k = rearrange(self.to_k(x), "b s (g d) -> b g s d", g=self.g)
        v = rearrange(self.to_v(x), "b s (g d) -> b g s d", g=self.g)
        s = einsum("b g r l d, b g s d -> b g r l s", q, k) * self.d**-0.5
        s = rearrange(s, "b g r l s -> b (g r) l s")
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        p = s.softmax(-1)
        o = einsum("b g r l s, b g s d -> b g r l d", rearrange(p, "b (g r) l s -> b g r l s", g=self.g), v)
        return self.to_out(rearrange(o, "b g r l d -> b l (g r d)")), p
