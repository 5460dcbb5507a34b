# problem: gqa
# wrong: a (B, H, L, L) mask belongs to the query heads in their order; here it is unflattened as (R, G) in place of (G, R), the same where G or R is 1
# needs: mask
import torch
import torch.nn as nn


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0, "width"
        assert num_heads % num_kv_heads == 0, "heads"
        self.g = num_kv_heads
        self.r = num_heads // num_kv_heads
        self.d = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, self.g * self.d)
        self.W_v = nn.Linear(d_model, self.g * self.d)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, l, e = x.shape
        g, r, d = self.g, self.r, self.d
        q = self.W_q(x).view(b, l, g, r, d)
        k = self.W_k(x).view(b, l, g, d)
        v = self.W_v(x).view(b, l, g, d)
        s = torch.einsum("b i g r d, b j g d -> b r g i j", q, k) / d**0.5
        if mask is not None:
            m = mask.expand(b, g * r, l, l).reshape(b, r, g, l, l)
            s = s.masked_fill(m == 0, -1e9)
        o = torch.einsum("b r g i j, b j g d -> b i g r d", s.softmax(dim=-1), v)
        return self.W_o(o.reshape(b, l, e))
