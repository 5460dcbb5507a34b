# expect: accepted
# problem: mha-numpy
import numpy as np


class MultiHeadAttentionNumpy:
    W_q: np.ndarray = np.zeros((1, 1))
    W_k: np.ndarray = np.zeros((1, 1))
    W_v: np.ndarray = np.zeros((1, 1))
    W_o: np.ndarray = np.zeros((1, 1))

    def __init__(self, d_model, n_heads):
        assert d_model % n_heads == 0
        self.h = n_heads

    def split(self, x):
        return x.reshape(*x.shape[:2], self.h, -1).transpose(0, 2, 1, 3)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(q @ self.W_q), self.split(k @ self.W_k), self.split(v @ self.W_v)
        s = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
        if mask is not None:
            s = np.where(mask != 0, -np.inf, s)
        s = np.exp(s - s.max(-1, keepdims=True))
        s = s / s.sum(-1, keepdims=True)
        o = (s @ v).transpose(0, 2, 1, 3)
        return o.reshape(o.shape[0], o.shape[1], -1) @ self.W_o, s
