'''
title = "The dtype of the mask takes over the scores"
killed_by = "bfloat16"
explanation = """
Adding a float32 mask to bfloat16 scores gives float32 weights, which do not multiply with \
bfloat16 values."""
hint = "Print the dtype of the scores before and after the mask, for a bfloat16 input."
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
        qkv = qkv.reshape(*x.shape[:2], 3, self.num_heads, self.head_dim)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores + torch.log((mask != 0).float())
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v
        output: torch.Tensor = self.out_proj(heads.transpose(1, 2).flatten(2))
        return output
