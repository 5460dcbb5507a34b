# expect: rejected
# problem: gqa
# mistake: divides by the root of E / G
# diagnosis: scale-by-sqrt-group-share

import torch, math
import torch.nn as nn

class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads or num_heads % num_kv_heads:
            raise ValueError("bad heads")
        self.h, self.g = num_heads, num_kv_heads
        self.d = embed_dim // num_heads
        self.scale = 1 / math.sqrt(embed_dim // num_kv_heads)
        self.q = nn.Linear(embed_dim, embed_dim)
        self.k = nn.Linear(embed_dim, self.g * self.d)
        self.v = nn.Linear(embed_dim, self.g * self.d)
        self.o = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        B, L, E = x.shape
        r = self.h // self.g
        q = self.q(x).view(B, L, self.g, r, self.d)
        k = self.k(x).view(B, L, self.g, self.d)
        v = self.v(x).view(B, L, self.g, self.d)
        s = torch.einsum('blgrd,bsgd->bgrls', q, k).reshape(B, self.h, L, L) * self.scale
        if mask is not None:
            s = s.masked_fill(mask == 0, float('-inf'))
        w = s.softmax(-1).view(B, self.g, r, L, L)
        o = torch.einsum('bgrls,bsgd->blgrd', w, v).reshape(B, L, E)
        return self.o(o)
