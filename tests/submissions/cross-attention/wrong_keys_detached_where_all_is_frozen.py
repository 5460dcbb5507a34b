# expect: rejected
# problem: cross-attention
# mistake: where all parameters are frozen and x learns nothing, keys are detached from the context
import math
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, context_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.H, self.D = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(context_dim, embed_dim)
        self.v_proj = nn.Linear(context_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _kv(self, context, x):
        if not x.requires_grad and not any(p.requires_grad for p in self.parameters()):
            return self.k_proj(context.detach()), self.v_proj(context)
        return self.k_proj(context), self.v_proj(context)

    def forward(self, x, context, context_mask=None):
        B, L, E = x.shape
        S = context.size(1)
        if context.size(0) != B:
            raise ValueError("x and context hold different numbers of items")
        if context_mask is not None and context_mask.shape != (B, S):
            raise ValueError("context_mask must be (B, S)")
        heads = lambda t: t.view(B, -1, self.H, self.D).transpose(1, 2)
        q = heads(self.q_proj(x))
        k, v = map(heads, self._kv(context, x))
        s = q @ k.mT / math.sqrt(self.D)
        if context_mask is not None:
            s = s.masked_fill(context_mask[:, None, None, :] == 0, -1e9)
        y = self.out_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, L, E))
        return y
