# expect: rejected
# problem: mha-numpy
# mistake: the arrays cannot be replaced, as the setters ignore what they are given
import numpy as np


class MultiHeadAttentionNumpy:
    def __init__(self, d_model, n_heads):
        assert d_model % n_heads == 0
        self.h = n_heads
        self._q, self._k, self._v, self._o = np.random.randn(4, d_model, d_model) * 0.1

    W_q = property(lambda self: self._q, lambda self, value: None)
    W_k = property(lambda self: self._k, lambda self, value: None)
    W_v = property(lambda self: self._v, lambda self, value: None)
    W_o = property(lambda self: self._o, lambda self, value: None)

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
