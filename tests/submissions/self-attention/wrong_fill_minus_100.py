# expect: rejected
# problem: self-attention
# mistake: blocked scores are set to -100
# diagnosis: fill-too-small
import math

import torch
import torch.nn as nn
from torch.nn import functional as F


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, causal=False):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.c_attn = nn.Linear(embed_dim, 3 * embed_dim, bias=bias)
        self.c_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.attn_dropout = nn.Dropout(dropout)
        self.n_head = num_heads
        self.n_embd = embed_dim
        self.causal = causal

    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        if key_padding_mask is not None:
            att = att.masked_fill(key_padding_mask[:, None, None, :], -100.0)
        if attn_mask is not None:
            if attn_mask.dtype == torch.bool:
                att = att.masked_fill(attn_mask, -100.0)
            else:
                att = att + attn_mask
        if self.causal:
            att = att.masked_fill(torch.ones(T, T).tril() == 0, -100.0)
        att = F.softmax(att, dim=-1)
        y = self.attn_dropout(att) @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        y = self.c_proj(y)
        return y, (att if need_weights else None)
