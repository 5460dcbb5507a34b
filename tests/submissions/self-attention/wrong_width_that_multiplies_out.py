# expect: rejected
# problem: self-attention
# mistake: heads that do not divide the width, where all positions together are divided
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, causal=False):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(embed_dim, embed_dim, bias=bias) for _ in range(4)
        )
        self.drop = nn.Dropout(dropout)
        self.num_heads, self.causal = num_heads, causal

    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        batch, length, width = x.shape
        size = width // self.num_heads
        q, k, v = (
            one(x).reshape(batch, -1, self.num_heads, size).transpose(1, 2)
            for one in (self.q_proj, self.k_proj, self.v_proj)
        )
        scores = q @ k.mT / size**0.5
        if attn_mask is not None:
            if attn_mask.dtype is torch.bool:
                scores = scores.masked_fill(attn_mask, float("-inf"))
            else:
                scores = scores + attn_mask
        if key_padding_mask is not None:
            scores = scores.masked_fill(key_padding_mask[:, None, None], float("-inf"))
        if self.causal:
            later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
        weights = scores.softmax(-1)
        mixed = (self.drop(weights) @ v).transpose(1, 2).reshape(batch, length, width)
        return self.out_proj(mixed), weights if need_weights else None
