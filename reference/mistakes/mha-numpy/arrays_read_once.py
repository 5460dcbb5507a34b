'''
title = "The four arrays are copied at the first call"
killed_by = "arrays-set-again"
explanation = """
What is copied, joined or scaled once is not changed by an array that is set from outside later."""
hint = "Call it, set W_q to zeros from outside, and call it again."
by_chance = true
'''

import math

import numpy as np


class MultiHeadAttentionNumpy:
    def __init__(self, embed_dim, num_heads):
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError("the heads do not divide the width")
        self.num_heads = num_heads
        self.joined = None
        draw = np.random.default_rng().standard_normal
        self.W_q = draw((embed_dim, embed_dim)) / math.sqrt(embed_dim)
        self.W_k = draw((embed_dim, embed_dim)) / math.sqrt(embed_dim)
        self.W_v = draw((embed_dim, embed_dim)) / math.sqrt(embed_dim)
        self.W_o = draw((embed_dim, embed_dim)) / math.sqrt(embed_dim)

    def forward(self, q, k, v, mask=None):
        if self.joined is None:
            self.joined = np.stack([self.W_q, self.W_k, self.W_v])
        q = self._split(q @ self.joined[0])
        k = self._split(k @ self.joined[1])
        v = self._split(v @ self.joined[2])

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
