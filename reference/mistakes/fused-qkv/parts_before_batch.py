'''
title = "The result is reshaped to (3, B, …) without moving the parts"
killed_by = "values"
explanation = """
reshape keeps the order of memory, in which the batch comes first: the first of your three parts \
holds all features of the first third of the batch and its positions."""
hint = "Which axis runs fastest in (B, L, 3E), and which numbers end up in your q?"
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
        self.qkv_proj = nn.Linear(embed_dim, 3 * embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError("x is not (batch, length, width)")
        qkv = self.qkv_proj(x)
        qkv = qkv.reshape(3, *x.shape[:2], self.num_heads, self.head_dim)
        q, k, v = qkv.transpose(2, 3)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v
        output: torch.Tensor = self.out_proj(heads.transpose(1, 2).flatten(2))
        return output
