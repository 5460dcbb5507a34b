# expect: rejected
# problem: cross-attention
# mistake: positions of zeros at the end of the context are cut off as padding
import math

import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, context_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.embed_dim, self.num_heads, self.context_dim = embed_dim, num_heads, context_dim
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(context_dim, embed_dim)
        self.v_proj = nn.Linear(context_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.num_heads, self.head_dim).transpose(1, 2)

    @staticmethod
    def _trim(context):
        """Cut what is empty at the end of the whole batch."""
        used = (context.detach() != 0).any(-1).any(0)
        if used.all() or not used.any():
            return context
        return context[:, : int(used.nonzero().max()) + 1]

    def forward(self, x, context, context_mask=None):
        if x.shape[-1] != self.embed_dim or context.shape[-1] != self.context_dim:
            raise ValueError("x or context of another width")
        if x.shape[0] != context.shape[0]:
            raise ValueError("x and context must have as many items")
        if context_mask is None:
            context = self._trim(context)
        elif tuple(context_mask.shape) != tuple(context.shape[:2]):
            raise ValueError("context_mask must be (B, S)")
        q, k, v = self._split(self.q_proj(x)), self._split(self.k_proj(context)), self._split(self.v_proj(context))
        scores = torch.matmul(q / math.sqrt(self.head_dim), k.transpose(-2, -1))
        if context_mask is not None:
            blocked = (context_mask.to(scores.device) == 0)[:, None, None, :]
            scores = scores.masked_fill(blocked, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = torch.matmul(weights, v).transpose(1, 2).reshape(x.shape)
        return self.out_proj(out)
