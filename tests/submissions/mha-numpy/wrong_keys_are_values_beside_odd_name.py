# expect: rejected
# problem: mha-numpy
# mistake: W_v makes the keys and W_k the values, beside an output map of another name
import numpy as np


class MultiHeadAttentionNumpy:
    def __init__(self, d_model, n_heads):
        assert d_model % n_heads == 0, "bad number of heads"
        self.d_model = d_model
        self.n_heads = n_heads
        self.W_q = np.random.randn(d_model, d_model)
        self.W_k = np.random.randn(d_model, d_model)
        self.W_v = np.random.randn(d_model, d_model)
        self.last_map = np.random.randn(d_model, d_model)

    def heads(self, x, name):
        x = x @ getattr(self, name)
        x = x.reshape(x.shape[0], x.shape[1], self.n_heads, self.d_model // self.n_heads)
        return x.transpose(0, 2, 1, 3)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.heads(q, "W_q"), self.heads(k, "W_v"), self.heads(v, "W_k")
        scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(self.d_model // self.n_heads)
        if mask is not None:
            scores = scores + mask * (-1e9)
        scores = scores - scores.max(axis=-1, keepdims=True)
        weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        out = (weights @ v).transpose(0, 2, 1, 3).reshape(q.shape[0], -1, self.d_model)
        return out @ self.last_map, weights
