# expect: accepted
# problem: talking-heads
import torch
from einops import rearrange
from torch import einsum, nn


class TalkingHeads(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_kv = nn.Linear(dim, 2 * dim, bias=False)
        self.mix_heads_pre_attn = nn.Parameter(torch.randn(heads, heads))
        self.mix_heads_post_attn = nn.Parameter(torch.randn(heads, heads))
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        q, k, v = (self.to_q(x), *self.to_kv(x).chunk(2, dim=-1))
        q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=self.heads) for t in (q, k, v))
        dots = einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        dots = einsum("b h i j, h g -> b g i j", dots, self.mix_heads_pre_attn)
        if mask is not None:
            dots = dots.masked_fill(mask == 0, -torch.finfo(dots.dtype).max)
        attn = dots.softmax(dim=-1)
        attn = einsum("b h i j, h g -> b g i j", attn, self.mix_heads_post_attn)
        out = einsum("b h i j, b h j d -> b h i d", attn, v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))
