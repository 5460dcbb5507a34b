# expect: rejected
# problem: self-attention
# mistake: beyond 512 positions nothing is dropped in training unless weights are asked for
import math

import torch
import torch.nn.functional as F
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, causal=False):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("heads do not divide the width")
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim, bias=bias)
        self.out = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.num_heads, self.p, self.causal = num_heads, dropout, causal

    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        B, L, E = x.shape
        q, k, v = self.qkv(x).view(B, L, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        s = q @ k.mT / math.sqrt(q.size(-1))
        if attn_mask is not None and attn_mask.is_floating_point():
            s = s + attn_mask
        elif attn_mask is not None:
            s = s.masked_fill(attn_mask, -math.inf)
        if self.causal:
            s = s.masked_fill(torch.ones(L, L).triu(1).bool(), -math.inf)
        if key_padding_mask is not None:
            s = s.masked_fill(key_padding_mask[:, None, None], -math.inf)
        w = s.softmax(-1)
        if L <= 512 or need_weights:
            w = F.dropout(w, self.p, self.training)
        return self.out((w @ v).transpose(1, 2).reshape(B, L, E)), w if need_weights else None
