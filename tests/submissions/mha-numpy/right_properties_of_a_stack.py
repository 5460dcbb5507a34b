# expect: accepted
# problem: mha-numpy
import numpy as np


class MultiHeadAttentionNumpy:
    """All four arrays in one, each with a name of its own."""

    def __init__(self, d_model, n_heads):
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads")
        self.n_heads = n_heads
        self.all_weights = np.random.normal(size=(4, d_model, d_model)) / np.sqrt(d_model)

    @property
    def W_q(self):
        return self.all_weights[0]

    @W_q.setter
    def W_q(self, w):
        self.all_weights = np.stack([w, *self.all_weights[1:]])

    @property
    def W_k(self):
        return self.all_weights[1]

    @W_k.setter
    def W_k(self, w):
        self.all_weights = np.stack([self.all_weights[0], w, *self.all_weights[2:]])

    @property
    def W_v(self):
        return self.all_weights[2]

    @W_v.setter
    def W_v(self, w):
        self.all_weights = np.stack([*self.all_weights[:2], w, self.all_weights[3]])

    @property
    def W_o(self):
        return self.all_weights[3]

    @W_o.setter
    def W_o(self, w):
        self.all_weights = np.stack([*self.all_weights[:3], w])

    def forward(self, q, k, v, mask=None):
        b, length, e = q.shape
        shape = (b, length, self.n_heads, e // self.n_heads)
        w = self.all_weights
        q, k, v = ((x @ w[i]).reshape(shape).swapaxes(1, 2) for i, x in enumerate((q, k, v)))
        scores = q @ k.swapaxes(2, 3) / np.sqrt(shape[-1])
        if mask is not None:
            scores = scores - 1e9 * mask
        scores = np.exp(scores - scores.max(axis=3, keepdims=True))
        weights = scores / scores.sum(axis=3, keepdims=True)
        return (weights @ v).swapaxes(1, 2).reshape(b, length, e) @ w[3], weights
