'''
title = "Queries, keys and values have a map each"
killed_by = "one-map"
explanation = """
That is ordinary self-attention, and right, but x is read and multiplied three times. The \
exercise is to stack the three weights into one."""
hint = "Which shape has the weight of a map that gives queries, keys and values at once?"
by_check = true
'''

import math

import torch
from torch import nn


class FusedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError("the heads do not divide the width")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError("x is not (batch, length, width)")
        qkv = torch.cat([self.q_proj(x), self.k_proj(x), self.v_proj(x)], dim=-1)
        qkv = qkv.reshape(*x.shape[:2], 3, self.num_heads, self.head_dim)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v
        output: torch.Tensor = self.out_proj(heads.transpose(1, 2).flatten(2))
        return output
