# expect: rejected
# problem: mhsa
# mistake: einops splits (d h) and merges (h d)
# diagnosis: split-interleaved

import torch
from torch import nn, einsum
from einops import rearrange

class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError('d_model must be divisible by num_heads')
        self.heads = num_heads
        self.scale = (d_model // num_heads) ** -0.5
        self.to_q = nn.Linear(d_model, d_model, bias=False)
        self.to_k = nn.Linear(d_model, d_model, bias=False)
        self.to_v = nn.Linear(d_model, d_model, bias=False)
        self.to_out = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        q, k, v = (rearrange(f(x), 'b n (d h) -> b h n d', h=self.heads) for f in (self.to_q, self.to_k, self.to_v))
        dots = einsum('bhid,bhjd->bhij', q, k) * self.scale
        if mask is not None:
            dots = dots.masked_fill(~mask.bool(), -torch.finfo(dots.dtype).max)
        attn = dots.softmax(dim=-1)
        out = einsum('bhij,bhjd->bhid', attn, v)
        return self.to_out(rearrange(out, 'b h n d -> b n (h d)'))
