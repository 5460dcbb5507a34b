# expect: accepted
# problem: mha-numpy
import math

import numpy as np


class MultiHeadAttention:
    """Heads first, biases, and called like a function."""

    def __init__(self, num_heads, embed_dim, seed=0):
        if embed_dim % num_heads != 0:
            raise ValueError("embed_dim must be divisible by num_heads")
        rng = np.random.default_rng(seed)
        self.h, self.d = num_heads, embed_dim // num_heads
        bound = math.sqrt(6 / (2 * embed_dim))
        for name in "qkvo":
            setattr(self, f"w_{name}", rng.uniform(-bound, bound, (embed_dim, embed_dim)))
            setattr(self, f"b_{name}", rng.uniform(-bound, bound, embed_dim))
        self.attention = None

    def __call__(self, query, key, value, mask=None):
        q, k, v = (
            np.moveaxis((x @ w + b).reshape(*x.shape[:2], self.h, self.d), 2, 1)
            for x, w, b in (
                (query, self.w_q, self.b_q),
                (key, self.w_k, self.b_k),
                (value, self.w_v, self.b_v),
            )
        )
        logits = np.einsum("bhld,bhsd->bhls", q, k) * self.d**-0.5
        if mask is not None:
            logits = np.where(mask, -np.inf, logits)
        logits = logits - logits.max(-1, keepdims=True)
        p = np.exp(logits)
        p /= p.sum(-1, keepdims=True)
        self.attention = p
        mixed = np.einsum("bhls,bhsd->blhd", p, v)
        return mixed.reshape(*mixed.shape[:2], -1) @ self.w_o + self.b_o, p
