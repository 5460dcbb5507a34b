# expect: rejected
# problem: self-attention
# mistake: where x and all parameters need no gradients, a mask that is learned gets none either
import math

import torch
from torch import Tensor, nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, causal=False):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.causal = causal
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)

    def check(self, x, key_padding_mask):
        if key_padding_mask is not None and key_padding_mask.shape != x.shape[:2]:
            raise ValueError("key_padding_mask must be (B, L)")

    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        learns = x.requires_grad or any(p.requires_grad for p in self.parameters())
        with torch.set_grad_enabled(torch.is_grad_enabled() and learns):
            return self.attend(x, key_padding_mask, attn_mask, need_weights)

    def attend(self, x, key_padding_mask, attn_mask, need_weights):
        self.check(x, key_padding_mask)
        length = x.shape[1]
        q, k, v = (self.split(m(x)) for m in (self.q_proj, self.k_proj, self.v_proj))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        blocked = torch.zeros(length, length, dtype=torch.bool, device=x.device)
        if self.causal:
            blocked = torch.ones_like(blocked).triu(1)
        if key_padding_mask is not None:
            blocked = blocked | key_padding_mask[:, None, None, :]
        if attn_mask is not None:
            if attn_mask.dtype == torch.bool:
                blocked = blocked | attn_mask
            else:
                scores = scores + attn_mask
        weights = scores.masked_fill(blocked, torch.finfo(scores.dtype).min).softmax(-1)
        heads = self.dropout(weights) @ v
        output = self.out_proj(heads.transpose(1, 2).flatten(2))
        return output, weights if need_weights else None
