'''
title = "The arrays are cut into heads in the constructor"
killed_by = "values"
explanation = """
Copies that the constructor takes of W_q, W_k and W_v do not follow when the arrays are set from \
outside: the layer goes on with its first, random numbers."""
hint = "Set W_q to zero after construction. Does the output change?"
by_chance = true
'''

import math

import numpy as np


class MultiHeadAttentionNumpy:
    def __init__(self, embed_dim, num_heads):
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError("the heads do not divide the width")
        self.num_heads = num_heads
        draw = np.random.default_rng().standard_normal
        self.W_q = draw((embed_dim, embed_dim)) / math.sqrt(embed_dim)
        self.W_k = draw((embed_dim, embed_dim)) / math.sqrt(embed_dim)
        self.W_v = draw((embed_dim, embed_dim)) / math.sqrt(embed_dim)
        self.W_o = draw((embed_dim, embed_dim)) / math.sqrt(embed_dim)
        fused = np.concatenate([self.W_q, self.W_k, self.W_v], axis=1)
        self.project = lambda x: np.split(x @ fused.astype(x.dtype), 3, axis=-1)

    def forward(self, q, k, v, mask=None):
        q = self._split(self.project(q)[0])
        k = self._split(self.project(k)[1])
        v = self._split(self.project(v)[2])

        scores = q @ k.swapaxes(2, 3) / math.sqrt(q.shape[-1])
        if mask is not None:
            blocked = np.broadcast_to(mask, scores.shape) != 0
            scores = np.where(blocked, -math.inf, scores)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = weights / weights.sum(axis=-1, keepdims=True)

        heads = weights @ v
        return self._merge(heads) @ self.W_o, weights

    def _split(self, x):
        batch, length, width = x.shape
        x = x.reshape(batch, length, self.num_heads, width // self.num_heads)
        return x.swapaxes(1, 2)

    def _merge(self, x):
        batch, heads, length, head_dim = x.shape
        return x.swapaxes(1, 2).reshape(batch, length, heads * head_dim)
