# expect: accepted
# problem: mhsa
import torch
from torch import nn


class MultiHeadSelfAttention:
    def __init__(self, embed_dim, num_heads):
        if embed_dim % num_heads:
            raise ValueError("embed_dim must be a multiple of num_heads")
        self.h = num_heads
        self._q, self._k, self._v, self._o = (
            nn.Parameter(torch.randn(embed_dim, embed_dim) * 0.02) for _ in range(4)
        )

    @property
    def W_q(self):
        return self._q.data

    @W_q.setter
    def W_q(self, w):
        self._q.data.copy_(w)

    def forward(self, x, mask=None):
        q, k, v = (
            (x @ w).unflatten(-1, (self.h, -1)).transpose(1, 2)
            for w in (self._q, self._k, self._v)
        )
        s = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        return (s.softmax(-1) @ v).transpose(1, 2).flatten(2) @ self._o
