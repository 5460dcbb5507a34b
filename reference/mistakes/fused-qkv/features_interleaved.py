'''
title = "Right under an interleaved layout: feature d·H + h of each part belongs to head h"
killed_by = "values"
explanation = """
Taken apart as (3, D, H), the features are dealt to the heads in turn, and collected in turn. \
That is an attention of its own, but the D features of a head stand together here, as in every \
standard checkpoint."""
hint = "In which order do H and D stand when a part is taken apart?"
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
        qkv = qkv.reshape(*x.shape[:2], 3, self.head_dim, self.num_heads)
        q, k, v = qkv.permute(2, 0, 4, 1, 3)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v
        output: torch.Tensor = self.out_proj(heads.permute(0, 2, 3, 1).flatten(2))
        return output
