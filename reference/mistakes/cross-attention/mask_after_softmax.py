import math

import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, context_dim):
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError("the heads do not divide the width")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.context_dim = context_dim
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(context_dim, embed_dim)
        self.v_proj = nn.Linear(context_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, context, context_mask=None):
        self._check(x, context, context_mask)
        q = self._split(self.q_proj(x))
        k = self._split(self.k_proj(context))
        v = self._split(self.v_proj(context))

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        weights = torch.softmax(scores, dim=-1)
        if context_mask is not None:
            weights = weights * (context_mask != 0)[:, None, None]

        heads = weights @ v
        output = self.out_proj(heads.transpose(1, 2).flatten(2))
        return output, weights

    def _split(self, x):
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)
        return x.transpose(1, 2)

    def _check(self, x, context, context_mask):
        for tensor, width in ((x, self.embed_dim), (context, self.context_dim)):
            if tensor.ndim != 3 or tensor.shape[-1] != width:
                raise ValueError("not (batch, length, width)")
        if len(x) != len(context):
            raise ValueError("batch sizes differ")
        if context_mask is not None and context_mask.shape != context.shape[:2]:
            raise ValueError("context_mask is not (batch, length)")
