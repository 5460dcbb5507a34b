# expect: rejected
# problem: mha-numpy
# mistake: the output map is used transposed, and no other
import numpy as np


class MultiHeadAttentionNumpy:
    def __init__(self, d_model, n_heads):
        if d_model % n_heads:
            raise ValueError("n_heads")
        self.n_heads = n_heads
        self.weights = np.random.randn(d_model, 4 * d_model) / d_model**0.5

    def forward(self, q, k, v, mask=None):
        b, n, e = q.shape
        *maps, last = np.split(self.weights, 4, axis=1)
        q, k, v = (
            (x @ w).reshape(b, n, self.n_heads, -1).swapaxes(1, 2)
            for x, w in zip((q, k, v), maps)
        )
        s = q @ k.swapaxes(2, 3) / q.shape[-1] ** 0.5
        if mask is not None:
            s = np.where(mask != 0, -np.inf, s)
        s = np.exp(s - s.max(-1, keepdims=True))
        s /= s.sum(-1, keepdims=True)
        return (s @ v).swapaxes(1, 2).reshape(b, n, e) @ last.T, s
