'''
title = "All heads share one map from D to D"
killed_by = "constructor"
explanation = """
Each head then sees its own slice of the input alone, by the same D·D numbers as every other head. \
The maps lead from the full width to the full width, and heads are cut from what comes out."""
hint = "Which numbers of the input can change head 0?"
by_check = true
says = " 6×6"
'''

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError("the heads do not divide the width")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(self.head_dim, self.head_dim)
        self.k_proj = nn.Linear(self.head_dim, self.head_dim)
        self.v_proj = nn.Linear(self.head_dim, self.head_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, q, k, v, mask=None):
        self._check(q, k, v)
        q = self.q_proj(self._split(q))
        k = self.k_proj(self._split(k))
        v = self.v_proj(self._split(v))

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -math.inf)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v
        output = self.out_proj(heads.transpose(1, 2).flatten(2))
        return output, weights

    def _split(self, x):
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)
        return x.transpose(1, 2)

    def _check(self, q, k, v):
        for name, x in {"q": q, "k": k, "v": v}.items():
            if x.ndim != 3 or x.shape[-1] != self.embed_dim:
                raise ValueError(f"{name} is not (batch, length, width)")
        if not q.shape[0] == k.shape[0] == v.shape[0]:
            raise ValueError("batch sizes differ")
        if k.shape[1] != v.shape[1]:
            raise ValueError("k and v differ in length")
