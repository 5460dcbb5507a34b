# expect: rejected
# problem: talking-heads
# mistake: (B, H, L, L) is viewed as (B, L, L, H)
# diagnosis: heads-moved-by-view
import math

import torch
from torch import nn


class TalkingHeadsAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h = num_heads
        self.query = nn.Linear(embed_dim, embed_dim)
        self.key = nn.Linear(embed_dim, embed_dim)
        self.value = nn.Linear(embed_dim, embed_dim)
        self.p_l = nn.Linear(num_heads, num_heads, bias=False)
        self.p_w = nn.Linear(num_heads, num_heads, bias=False)
        self.out = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q, k, v = (
            m(x).view(b, n, self.h, -1).transpose(1, 2) for m in (self.query, self.key, self.value)
        )
        s = q @ k.transpose(2, 3) / math.sqrt(e // self.h)
        s = self.p_l(s.reshape(b, n, n, self.h)).reshape(b, self.h, n, n)
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        w = torch.softmax(s, -1)
        w = self.p_w(w.reshape(b, n, n, self.h)).reshape(b, self.h, n, n)
        return self.out((w @ v).transpose(1, 2).reshape(b, n, e)), w
