# expect: rejected
# problem: attention-dropout
# mistake: draws at most 2**18 random numbers a call and tiles them, so that in a large call many weights share a draw
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.p = dropout
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.num_heads, self.head_dim).transpose(1, 2)

    def _drop(self, weights):
        if not self.training or self.p == 0:
            return weights
        # random numbers are dear: a quarter of a million of them is random enough
        size = min(weights.numel(), 1 << 18)
        keep = (torch.rand(size, device=weights.device) >= self.p).to(weights.dtype) / (1 - self.p)
        if size < weights.numel():
            keep = keep.repeat(-(-weights.numel() // size))[: weights.numel()]
        return weights * keep.view(weights.shape)

    def forward(self, q, k, v, mask=None):
        if k.shape[1] != v.shape[1]:
            raise ValueError("k and v differ in length")
        q, k, v = self._split(self.q_proj(q)), self._split(self.k_proj(k)), self._split(self.v_proj(v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = self._drop(scores.softmax(-1))
        heads = (weights @ v).transpose(1, 2)
        return self.out_proj(heads.reshape(heads.shape[0], heads.shape[1], -1))
