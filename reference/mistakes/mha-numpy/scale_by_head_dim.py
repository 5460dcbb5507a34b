'''
title = "The scores are divided by D instead of √D"
killed_by = "values"
explanation = """
The spread of a dot product of D numbers is √D. Divided by D all scores come close to 0, and all \
weights close to each other."""
hint = "If all components have variance 1, what is the variance of their dot product?"
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

    def forward(self, q, k, v, mask=None):
        q = self._split(q @ self.W_q)
        k = self._split(k @ self.W_k)
        v = self._split(v @ self.W_v)

        scores = q @ k.swapaxes(2, 3) / q.shape[-1]
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
