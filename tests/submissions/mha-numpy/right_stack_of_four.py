# expect: accepted
# problem: mha-numpy
import numpy as np


class MultiHeadAttentionNumpy:
    def __init__(self, d_model, n_heads, seed=None):
        if d_model % n_heads:
            raise ValueError("d_model % n_heads != 0")
        rng = np.random.default_rng(seed)
        self.H = n_heads
        self.W = rng.standard_normal((4, d_model, d_model)) / np.sqrt(d_model)
        self.b = np.zeros((4, d_model))

    def forward(self, q, k, v, mask=None):
        B, L, E = q.shape
        x = np.stack([q, k, v])  # (3, B, L, E)
        x = np.einsum("sble,sef->sblf", x, self.W[:3]) + self.b[:3, None, None]
        Q, K, V = x.reshape(3, B, L, self.H, -1).transpose(0, 1, 3, 2, 4)
        S = Q @ K.transpose(0, 1, 3, 2) / np.sqrt(E // self.H)
        if mask is not None:
            S = np.where(mask, -np.inf, S)
        A = np.exp(S - S.max(axis=-1, keepdims=True))
        A = A / A.sum(axis=-1, keepdims=True)
        Z = (A @ V).transpose(0, 2, 1, 3).reshape(B, L, E)
        return Z @ self.W[3] + self.b[3], A
