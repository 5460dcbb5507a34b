# expect: rejected
# problem: self-attention
# mistake: in training with dropout and an attn_mask the padding is ignored
import math
import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, causal=False):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.h, self.d = num_heads, embed_dim // num_heads
        self.causal = causal
        self.drop = nn.Dropout(dropout)
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def split(self, x):
        b, n, _ = x.shape
        return x.reshape(b, n, self.h, self.d).transpose(1, 2)

    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        q, k, v = self.split(self.q_proj(x)), self.split(self.k_proj(x)), self.split(self.v_proj(x))
        n = x.size(1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d)
        if attn_mask is not None:
            if attn_mask.dtype == torch.bool:
                scores = scores.masked_fill(attn_mask, float("-inf"))
            else:
                scores = scores + attn_mask
        if key_padding_mask is not None and not (
            self.training and self.drop.p > 0 and attn_mask is not None
        ):
            scores = scores.masked_fill(key_padding_mask[:, None, None, :], float("-inf"))
        if self.causal:
            future = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
            scores = scores.masked_fill(future, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        out = self.drop(weights) @ v
        out = self.out_proj(out.transpose(1, 2).reshape(x.shape))
        return out, (weights if need_weights else None)
