# expect: accepted
# problem: mhsa
import torch
from torch import nn


class Weights:
    __slots__ = ("q", "k", "v", "o")

    def __init__(self, width):
        for name in self.__slots__:
            setattr(self, name, nn.Linear(width, width))


class MultiHeadSelfAttention:
    __slots__ = ("_weights", "heads")

    def __init__(self, embed_dim, num_heads):
        if embed_dim % num_heads:
            raise ValueError("embed_dim is not divisible by num_heads")
        self.heads = num_heads
        self._weights = Weights(embed_dim)

    def __call__(self, x, mask=None):
        w = self._weights
        q, k, v = (m(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for m in (w.q, w.k, w.v))
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        return w.o((torch.softmax(scores, -1) @ v).transpose(1, 2).flatten(2))
