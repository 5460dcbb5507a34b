# expect: rejected
# problem: attention-dropout
# mistake: draws are made once for 256 keys and repeated for those beyond
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.h, self.p = num_heads, dropout
        self.w_q = nn.Linear(embed_dim, embed_dim)
        self.w_k = nn.Linear(embed_dim, embed_dim)
        self.w_v = nn.Linear(embed_dim, embed_dim)
        self.w_o = nn.Linear(embed_dim, embed_dim)

    def drop(self, w):
        if not self.training or not self.p:
            return w
        keys = w.shape[-1]
        kept = torch.rand(*w.shape[:-1], min(keys, 256)) >= self.p
        kept = torch.cat([kept] * (keys // 256 + 1), -1)[..., :keys]
        return torch.where(kept, w / (1 - self.p), torch.zeros_like(w))

    def forward(self, q, k, v, mask=None):
        q, k, v = (
            f(x).unflatten(-1, (self.h, -1)).transpose(1, 2)
            for f, x in ((self.w_q, q), (self.w_k, k), (self.w_v, v))
        )
        s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        w = self.drop(s.softmax(-1))
        return self.w_o((w @ v).transpose(1, 2).flatten(2)), w
