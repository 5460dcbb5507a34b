# expect: rejected
# problem: self-attention
# mistake: where at least half of the keys at the end are padding in every item, they are cut off before the scores, and the weights that are returned lack their columns
import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, causal=False):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.E, self.H, self.causal = embed_dim, num_heads, causal
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, key_padding_mask=None, attn_mask=None, need_weights=False):
        B, L, E = x.shape
        if E != self.E or (key_padding_mask is not None and key_padding_mask.shape != (B, L)):
            raise ValueError("x or key_padding_mask does not fit")
        q, k, v = (m(x).unflatten(-1, (self.H, -1)).transpose(1, 2) for m in (self.q_proj, self.k_proj, self.v_proj))
        if key_padding_mask is not None:
            kept = (~key_padding_mask).any(0).nonzero()
            end = int(kept[-1]) + 1 if len(kept) else L
            if 2 * end <= L:  # much padding at the end: spare the work
                k, v, key_padding_mask = k[:, :, :end], v[:, :, :end], key_padding_mask[:, :end]
                attn_mask = None if attn_mask is None else attn_mask[..., :end]
        S = k.shape[2]
        wide = torch.promote_types(x.dtype, torch.float32)
        scores = q.to(wide) @ k.to(wide).transpose(-1, -2) / math.sqrt(q.shape[-1])
        blocked = torch.zeros(1, 1, L, S, dtype=torch.bool, device=x.device)
        if attn_mask is not None:
            if attn_mask.dtype == torch.bool:
                blocked = blocked | attn_mask
            else:
                blocked = blocked | (attn_mask == float("-inf"))
                scores = scores + attn_mask.to(wide)
        if key_padding_mask is not None:
            blocked = blocked | key_padding_mask[:, None, None, :]
        if self.causal:
            i = torch.arange(L, device=x.device)
            blocked = blocked | (i[None, :S] > i[:, None])
        weights = torch.softmax(scores.masked_fill(blocked, -1e30), -1)
        heads = (self.dropout(weights) @ v.to(wide)).to(x.dtype)
        output = self.out_proj(heads.transpose(1, 2).flatten(2))
        return output, (weights.to(x.dtype) if need_weights else None)
