# expect: rejected
# problem: cross-attention
# mistake: where the context is x itself the mask is thought to be none of its business
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, context_dim):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("the heads do not divide the width")
        self.h, self.d = num_heads, embed_dim // num_heads
        self.to_q = nn.Linear(embed_dim, embed_dim)
        self.to_k = nn.Linear(context_dim, embed_dim)
        self.to_v = nn.Linear(context_dim, embed_dim)
        self.to_out = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, context, context_mask=None):
        if len(x) != len(context):
            raise ValueError("one context for each item")
        q, k, v = (
            map_(one).unflatten(-1, (self.h, self.d)).transpose(1, 2)
            for map_, one in ((self.to_q, x), (self.to_k, context), (self.to_v, context))
        )
        scores = q @ k.mT / self.d**0.5
        if context_mask is not None and context is not x:
            padding = context_mask[:, None, None, :] == 0
            scores = scores.masked_fill(padding, float("-inf"))
        return self.to_out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
