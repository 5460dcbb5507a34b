import math

import numpy as np


class MultiHeadAttentionNumpy:
    def __init__(self, embed_dim, num_heads):
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

        scores = q @ k.swapaxes(2, 3) / math.sqrt(q.shape[-1])
        if mask is not None:
            blocked = np.broadcast_to(mask, scores.shape) != 0
            scores = np.where(blocked, -math.inf, scores)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = weights / weights.sum(axis=-1, keepdims=True)

        heads = weights @ v
        merged = self._merge(heads)
        return merged @ self.W_o[: merged.shape[-1]], weights

    def _split(self, x):
        batch, length, width = x.shape
        x = x[..., : width - width % self.num_heads]
        x = x.reshape(batch, length, self.num_heads, width // self.num_heads)
        return x.swapaxes(1, 2)

    def _merge(self, x):
        batch, heads, length, head_dim = x.shape
        return x.swapaxes(1, 2).reshape(batch, length, heads * head_dim)
