# expect: accepted
# problem: mha-numpy
import numpy as np


def array(name):
    """A property that checks what is put into the dict behind it."""

    def get(self):
        return self._store[name]

    def put(self, value):
        value = np.asarray(value)
        if value.shape != (self.d_model, self.d_model):
            raise ValueError(f"{name}: {value.shape}")
        self._store[name] = value

    return property(get, put)


class MultiHeadAttentionNumpy:
    W_q, W_k, W_v, W_o = array("first"), array("second"), array("third"), array("fourth")

    def __init__(self, d_model, n_heads):
        if d_model % n_heads:
            raise ValueError("n_heads")
        self.d_model, self.n_heads, self.d = d_model, n_heads, d_model // n_heads
        self._store = {}
        self.W_q = self.W_k = self.W_v = np.eye(d_model)
        self.W_o = np.ones((d_model, d_model))

    def forward(self, q, k, v, mask=None):
        outs, maps = [], []
        for h in range(self.n_heads):
            at = slice(h * self.d, (h + 1) * self.d)
            s = q @ self.W_q[:, at] @ (k @ self.W_k[:, at]).swapaxes(1, 2) / self.d**0.5
            if mask is not None:
                m = np.asarray(mask)
                if m.ndim == 4:
                    m = m[:, h] if m.shape[1] > 1 else m[:, 0]
                s = np.where(m == 1, -np.inf, s)
            a = np.exp(s - s.max(-1, keepdims=True))
            a /= a.sum(-1, keepdims=True)
            outs.append(a @ (v @ self.W_v[:, at]))
            maps.append(a)
        return np.concatenate(outs, -1) @ self.W_o, np.stack(maps, 1)
