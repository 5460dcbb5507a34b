# expect: rejected
# problem: self-attention
# mistake: masks multiply the weights, which are then normalised again
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
        seen = torch.ones(T, T, dtype=torch.bool)
        if key_padding_mask is not None:
            seen = seen & ~key_padding_mask[:, None, None, :]
        if attn_mask is not None:
            if attn_mask.dtype == torch.bool:
                seen = seen & ~attn_mask
            else:
                att = att + attn_mask
        if self.causal:
            seen = seen.tril()
        att = F.softmax(att, dim=-1) * seen
        att = att / (att.sum(-1, keepdim=True) + 1e-9)
        y = self.attn_dropout(att) @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        y = self.c_proj(y)
        return y, (att if need_weights else None)
