# expect: rejected
# problem: self-attention
# mistake: a float mask of zeros and ones is taken for a boolean one
import math
import torch
import torch.nn.functional as F
from torch import nn

class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, causal=False):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h, self.d, self.causal = num_heads, embed_dim // num_heads, causal
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.dropout = nn.Dropout(dropout)
    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        B, L, E = x.shape
        q = self.q_proj(x).view(B, L, self.h, self.d).transpose(1, 2)
        k = self.k_proj(x).view(B, L, self.h, self.d).transpose(1, 2)
        v = self.v_proj(x).view(B, L, self.h, self.d).transpose(1, 2)
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if attn_mask is not None:
            if attn_mask.dtype != torch.bool and bool(((attn_mask == 0) | (attn_mask == 1)).all()): attn_mask = attn_mask == 1
            if attn_mask.dtype == torch.bool:
                s = s.masked_fill(attn_mask, float("-inf"))
            else:
                s = s + attn_mask
        if key_padding_mask is not None:
            s = s.masked_fill(key_padding_mask[:, None, None, :], float("-inf"))
        if self.causal:
            s = s.masked_fill(torch.ones(L, L, dtype=torch.bool).triu(1), float("-inf"))
        w = s.softmax(-1)
        w = self.dropout(w)
        o = (w @ v).transpose(1, 2).reshape(B, L, E)
        return self.out_proj(o), (w if need_weights else None)
