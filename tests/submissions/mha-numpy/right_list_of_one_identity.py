# expect: accepted
# problem: mha-numpy
import numpy as np


class MHA:
    def __init__(self, d_model, num_heads):
        assert d_model % num_heads == 0
        self.h = num_heads
        self.mats = [np.identity(d_model)] * 4

    def __call__(self, query, key, value, mask=None):
        n, length, d = query.shape

        def project(x, i):
            return np.stack(np.split(x @ self.mats[i], self.h, axis=-1), axis=1)

        q, k, v = project(query, 0), project(key, 1), project(value, 2)
        logits = np.einsum("nhqd,nhkd->nhqk", q, k) / (d // self.h) ** 0.5
        if mask is not None:
            logits = np.where(np.asarray(mask, dtype=bool), -np.inf, logits)
        logits -= logits.max(axis=-1, keepdims=True)
        weights = np.exp(logits)
        weights /= weights.sum(axis=-1, keepdims=True)
        heads = np.einsum("nhqk,nhkd->nqhd", weights, v)
        return heads.reshape(n, length, d) @ self.mats[3], weights
