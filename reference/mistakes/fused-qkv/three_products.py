'''
title = "The fused weight is cut into three, or the map is called three times"
killed_by = "one-product"
explanation = """
One parameter alone saves nothing: x is still multiplied once for each of q, k and v. Multiply \
first, with the whole weight, and slice the result."""
hint = "How many matrix products does your forward start before the scores?"
by_check = true
says = "more than one|no product gives"
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
        weights, biases = self.qkv_proj.weight.chunk(3), self.qkv_proj.bias.chunk(3)
        parts = [nn.functional.linear(x, w, b) for w, b in zip(weights, biases, strict=True)]
        qkv = torch.cat(parts, dim=-1)
        qkv = qkv.reshape(*x.shape[:2], 3, self.num_heads, self.head_dim)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v
        output: torch.Tensor = self.out_proj(heads.transpose(1, 2).flatten(2))
        return output
