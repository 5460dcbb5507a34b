# expect: accepted
# problem: mha-numpy
import math

import numpy as np


class MultiHeadAttentionNumpy:
    __slots__ = ("head_count", "value_map", "key_map", "query_map", "__last")

    def __init__(self, d_model, n_heads):
        if n_heads <= 0 or d_model % n_heads:
            raise ValueError(f"{d_model} features do not split into {n_heads} heads")
        rng = np.random.default_rng(0)
        self.head_count = n_heads
        self.value_map, self.key_map, self.query_map, self.__last = (
            rng.normal(scale=1 / math.sqrt(d_model), size=(d_model, d_model)) for _ in range(4)
        )

    def _heads(self, x):
        return x.reshape(*x.shape[:2], self.head_count, -1).swapaxes(1, 2)

    def forward(self, q, k, v, mask=None):
        q = self._heads(q @ self.query_map)
        k = self._heads(k @ self.key_map)
        v = self._heads(v @ self.value_map)
        scores = np.matmul(q, k.swapaxes(-1, -2)) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = np.where(mask != 0, -1e30, scores)
        e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        p = e / np.sum(e, axis=-1, keepdims=True)
        merged = np.matmul(p, v).swapaxes(1, 2)
        return merged.reshape(*merged.shape[:2], -1) @ self.__last, p
