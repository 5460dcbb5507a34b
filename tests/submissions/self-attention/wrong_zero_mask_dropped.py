# expect: rejected
# problem: self-attention
# mistake: a float mask of nothing but zeros is dropped, and gets no gradient
import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, causal=False):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.embed_dim, self.num_heads, self.causal = embed_dim, num_heads, causal
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def _split(self, x):
        return x.view(x.shape[0], x.shape[1], self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        if x.shape[-1] != self.embed_dim:
            raise ValueError("wrong width")
        batch, length, _ = x.shape
        if key_padding_mask is not None and key_padding_mask.shape != (batch, length):
            raise ValueError("key_padding_mask does not fit")
        # a mask that neither blocks nor adds anything costs a pass over the scores
        if key_padding_mask is not None and not key_padding_mask.any():
            key_padding_mask = None
        if attn_mask is not None and not attn_mask.any():
            attn_mask = None
        q, k, v = (self._split(m(x)) for m in (self.q_proj, self.k_proj, self.v_proj))
        dtype = q.dtype
        compute = torch.float64 if dtype == torch.float64 else torch.float32
        scores = q.to(compute) @ k.to(compute).transpose(-2, -1) / math.sqrt(self.head_dim)
        blocked = torch.zeros(1, 1, length, length, dtype=torch.bool, device=x.device)
        if attn_mask is not None:
            if attn_mask.dtype == torch.bool:
                blocked = blocked | attn_mask
            else:
                blocked = blocked | torch.isneginf(attn_mask)
                scores = scores + attn_mask.to(compute)
        if key_padding_mask is not None:
            blocked = blocked | key_padding_mask[:, None, None, :]
        if self.causal:
            blocked = blocked | torch.ones_like(blocked).triu(1)
        weights = scores.masked_fill(blocked, -1e30).softmax(-1)
        heads = (self.dropout(weights) @ v.to(compute)).to(dtype)
        out = self.out_proj(heads.transpose(1, 2).reshape(batch, length, self.embed_dim))
        return out, weights.to(dtype) if need_weights else None
