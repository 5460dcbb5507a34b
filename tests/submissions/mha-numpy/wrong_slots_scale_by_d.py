# expect: rejected
# problem: mha-numpy
# mistake: slots for the arrays, and scores divided by D
# diagnosis: scale-by-head-dim
import numpy as np


class MultiHeadAttentionNumpy:
    __slots__ = "h", "q", "k", "v", "o"

    def __init__(self, d_model, n_heads):
        assert d_model % n_heads == 0
        self.h = n_heads
        for name in "qkvo":
            setattr(self, name, np.random.randn(d_model, d_model) / d_model)

    def split(self, x):
        return x.reshape(*x.shape[:2], self.h, -1).swapaxes(1, 2)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(q @ self.q), self.split(k @ self.k), self.split(v @ self.v)
        s = q @ k.swapaxes(-1, -2) / q.shape[-1]
        if mask is not None:
            s = np.where(mask != 0, -1e30, s)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        p = e / e.sum(axis=-1, keepdims=True)
        z = (p @ v).swapaxes(1, 2)
        return z.reshape(*z.shape[:2], -1) @ self.o, p
