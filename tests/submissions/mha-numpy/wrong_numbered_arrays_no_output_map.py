# expect: rejected
# problem: mha-numpy
# mistake: the fourth array is not used, and the output map is left out
import numpy as np


class MultiHeadAttentionNumpy:
    def __init__(self, d_model, n_heads):
        if d_model % n_heads:
            raise ValueError("n_heads")
        self.n_heads = n_heads
        draw = np.random.default_rng().normal
        self.a1, self.a2, self.a3, self.a4 = draw(size=(4, d_model, d_model))
        self.m1, self.m2, self.m3, self.m4 = np.zeros((4, d_model, d_model))  # momentum
        self.c1, self.c2 = np.zeros((2, d_model))  # what a later version will need

    def forward(self, q, k, v, mask=None):
        b, n, e = q.shape
        q, k, v = q @ self.a1, k @ self.a2, v @ self.a3
        q, k, v = (x.reshape(b, n, self.n_heads, -1).swapaxes(1, 2) for x in (q, k, v))
        s = q @ k.swapaxes(2, 3) / q.shape[-1] ** 0.5
        if mask is not None:
            s = np.where(mask != 0, -np.inf, s)
        s = np.exp(s - s.max(-1, keepdims=True))
        s /= s.sum(-1, keepdims=True)
        return (s @ v).swapaxes(1, 2).reshape(b, n, e), s
