# expect: accepted
# problem: mha-numpy
import numpy as np


class Linear:
    def __init__(self, n_in, n_out):
        self.weight = np.random.randn(n_in, n_out) / np.sqrt(n_in)

    def __call__(self, x):
        return x @ self.weight


class MultiHeadAttentionNumpy:
    def __init__(self, d_model, n_heads):
        self.n_heads = n_heads
        self.query = Linear(d_model, d_model)
        self.key = Linear(d_model, d_model)
        self.value = Linear(d_model, d_model)
        self.out = Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        b, n, e = q.shape
        d, rest = divmod(e, self.n_heads)
        if rest:
            raise ValueError("d_model must be a multiple of n_heads")
        q = self.query(q).reshape(b, n, self.n_heads, d)
        k = self.key(k).reshape(b, n, self.n_heads, d)
        v = self.value(v).reshape(b, n, self.n_heads, d)
        s = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(d)
        if mask is not None:
            s = np.where(np.asarray(mask, dtype=bool), -1e30, s)
        s = np.exp(s - np.max(s, axis=3, keepdims=True))
        w = s / np.sum(s, axis=3, keepdims=True)
        return self.out(np.einsum("bhij,bjhd->bihd", w, v).reshape(b, n, e)), w
