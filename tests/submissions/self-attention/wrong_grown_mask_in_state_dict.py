# expect: rejected
# problem: self-attention
# mistake: a causal mask that has grown stands in the state_dict, and a new layer cannot load it
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
        if causal:
            self.register_buffer("causal_mask", torch.ones(1024, 1024, dtype=torch.bool).triu(1))

    def later(self, length):
        if length > self.causal_mask.shape[0]:
            self.causal_mask = torch.ones(length, length, dtype=torch.bool, device=self.causal_mask.device).triu(1)
        return self.causal_mask[:length, :length]

    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        B, L, E = x.shape
        q, k, v = (m(x).view(B, L, self.num_heads, -1).transpose(1, 2) for m in (self.q_proj, self.k_proj, self.v_proj))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        blocked = torch.zeros(1, 1, 1, L, dtype=torch.bool, device=x.device)
        if key_padding_mask is not None:
            blocked = blocked | key_padding_mask[:, None, None]
        if self.causal:
            blocked = blocked | self.later(L)
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            blocked = blocked | attn_mask
        elif attn_mask is not None:
            scores = scores + attn_mask
        scores = scores.masked_fill(blocked, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        output = (self.drop(weights) @ v).transpose(1, 2).reshape(B, L, E)
        return self.out_proj(output), weights if need_weights else None
