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
        q = k = v = qkv.permute(0, 3, 1, 2, 4)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        weights = torch.softmax(scores, dim=-1)
        heads = (weights @ v).mean(dim=3)
        output: torch.Tensor = self.out_proj(heads.transpose(1, 2).flatten(2))
        return output
