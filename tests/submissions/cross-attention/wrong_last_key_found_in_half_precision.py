# expect: rejected
# problem: cross-attention
# mistake: the place of the last open key is computed in the dtype of the context
import math

import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, context_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(context_dim, embed_dim)
        self.v_proj = nn.Linear(context_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _heads(self, t):
        return t.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)

    def forward(self, x, context, context_mask=None):
        if x.shape[0] != context.shape[0]:
            raise ValueError("x and context differ in their number of items")
        keep = None
        if context_mask is not None:
            if context_mask.shape != context.shape[:2]:
                raise ValueError("context_mask must be (B, S)")
            keep = context_mask.to(x.dtype)
            # most padding stands at the end: do not project what nobody in the batch keeps
            places = torch.arange(1, context.shape[1] + 1, dtype=keep.dtype, device=keep.device)
            used = max(1, int((keep * places).max()))
            context, keep = context[:, :used], keep[:, :used]

        q = self._heads(self.q_proj(x))
        k, v = self._heads(self.k_proj(context)), self._heads(self.v_proj(context))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)
        if keep is not None:
            scores = scores.masked_fill(keep[:, None, None, :] == 0, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).flatten(2)
        return self.out_proj(out), weights
