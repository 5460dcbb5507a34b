# problem: gqa
# wrong: a (B, 1, 1, L) mask blocks keys; here it is also applied to the queries, whose rows then become an average over all keys
# needs: mask
import torch
from torch import nn
from einops import rearrange, repeat


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        dim = d_model // num_heads
        self.scale = dim**-0.5
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * dim)
        self.W_v = nn.Linear(d_model, num_kv_heads * dim)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        r = self.num_heads // self.num_kv_heads
        q = rearrange(self.W_q(x), "b l (h d) -> b h l d", h=self.num_heads)
        k = repeat(self.W_k(x), "b l (g d) -> b (g r) l d", g=self.num_kv_heads, r=r)
        v = repeat(self.W_v(x), "b l (g d) -> b (g r) l d", g=self.num_kv_heads, r=r)
        dots = torch.einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        if mask is not None:
            keep = mask != 0
            if keep.dim() == 4 and keep.shape[-2] == 1:
                keep = keep & keep.transpose(-1, -2)
            dots = dots.masked_fill(~keep, -1e9)
        out = torch.einsum("b h i j, b h j d -> b h i d", dots.softmax(-1), v)
        return self.W_o(rearrange(out, "b h l d -> b l (h d)"))
