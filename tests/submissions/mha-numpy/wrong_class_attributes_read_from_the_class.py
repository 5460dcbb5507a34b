# expect: rejected
# problem: mha-numpy
# mistake: forward reads the arrays of the class and not those of the instance
import numpy as np


class MultiHeadAttentionNumpy:
    W_q: np.ndarray = np.eye(6)
    W_k: np.ndarray = np.eye(6)
    W_v: np.ndarray = np.eye(6)
    W_o: np.ndarray = np.eye(6)

    def __init__(self, d_model, n_heads):
        assert d_model % n_heads == 0
        self.h = n_heads

    def split(self, x):
        return x.reshape(*x.shape[:2], self.h, -1).transpose(0, 2, 1, 3)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(q @ MultiHeadAttentionNumpy.W_q), self.split(k @ MultiHeadAttentionNumpy.W_k), self.split(v @ MultiHeadAttentionNumpy.W_v)
        s = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
        if mask is not None:
            s = np.where(mask != 0, -np.inf, s)
        s = np.exp(s - s.max(-1, keepdims=True))
        s = s / s.sum(-1, keepdims=True)
        o = (s @ v).transpose(0, 2, 1, 3)
        return o.reshape(o.shape[0], o.shape[1], -1) @ MultiHeadAttentionNumpy.W_o, s
