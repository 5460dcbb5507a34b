# expect: rejected
# problem: mhsa
# mistake: without a mask no maximum is subtracted from scores below 40: float16 overflows at 11
import math

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, bias=True):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("heads do not divide the width")
        self.num_heads = num_heads
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def forward(self, x, mask=None):
        B, L, E = x.shape
        q, k, v = self.qkv(x).view(B, L, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        s = q @ k.mT / math.sqrt(q.size(-1))
        if mask is None and s.detach().abs().max() < 40:
            e = s.exp()
            w = e / e.sum(-1, keepdim=True)
        else:
            if mask is not None:
                s = s.masked_fill(mask == 0, -math.inf)
            w = s.softmax(-1)
        return self.out_proj((w @ v).transpose(1, 2).reshape(B, L, E))
