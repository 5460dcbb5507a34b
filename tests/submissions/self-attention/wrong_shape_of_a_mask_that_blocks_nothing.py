# expect: rejected
# problem: self-attention
# mistake: a padding mask of another length is accepted if it blocks nothing
import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, causal=False):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads does not divide embed_dim")
        self.num_heads, self.causal = num_heads, causal
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        B, L, E = x.shape
        q, k, v = (m(x).view(B, L, self.num_heads, -1).transpose(1, 2) for m in (self.q_proj, self.k_proj, self.v_proj))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        low = torch.finfo(scores.dtype).min
        if attn_mask is not None and attn_mask.is_floating_point():
            scores = scores + attn_mask
        elif attn_mask is not None:
            scores = scores.masked_fill(attn_mask, low)
        if self.causal and L > 1:
            scores = scores.masked_fill(torch.ones(L, L, dtype=torch.bool, device=x.device).triu(1), low)
        if key_padding_mask is not None and key_padding_mask.any():  # full batches have none
            scores = scores.masked_fill(key_padding_mask[:, None, None], low)
        weights = scores.softmax(-1)
        output = (self.drop(weights) @ v).transpose(1, 2).reshape(B, L, E)
        return self.out_proj(output), weights if need_weights else None
