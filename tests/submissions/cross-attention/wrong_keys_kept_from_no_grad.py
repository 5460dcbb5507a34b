# expect: rejected
# problem: cross-attention
# mistake: keys and values made under no_grad are kept, so that their maps get no gradient in a later call
import math

import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, context_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self._kept = None
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(context_dim, embed_dim)
        self.v_proj = nn.Linear(context_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _split(self, x):
        return x.view(x.size(0), x.size(1), self.num_heads, self.head_dim).transpose(1, 2)

    def _keys_and_values(self, context):
        maps = (*self.k_proj.parameters(), *self.v_proj.parameters())
        source = (context, *maps)
        if self._kept is not None and not context.requires_grad:
            old, k, v = self._kept
            if all(a.dtype == b.dtype and a.device == b.device and torch.equal(a, b) for a, b in zip(old, source)):
                return k, v
        k, v = self._split(self.k_proj(context)), self._split(self.v_proj(context))
        if not torch.is_grad_enabled() and not torch.is_inference_mode_enabled():
            self._kept = ([p.detach().clone() for p in source], k, v)
        return k, v

    def forward(self, x, context, context_mask=None):
        if x.size(0) != context.size(0):
            raise ValueError("different numbers of items")
        q = self._split(self.q_proj(x))
        k, v = self._keys_and_values(context)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if context_mask is not None:
            scores = scores.masked_fill(context_mask[:, None, None] == 0, torch.finfo(scores.dtype).min)
        out = torch.softmax(scores, dim=-1) @ v
        return self.out_proj(out.transpose(1, 2).reshape(x.shape))
