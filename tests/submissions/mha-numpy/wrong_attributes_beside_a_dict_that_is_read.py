# expect: rejected
# problem: mha-numpy
# mistake: reads a dict made in the constructor, so that arrays set from outside have no effect
import numpy as np


class MultiHeadAttentionNumpy:
    def __init__(self, d_model, n_heads):
        assert d_model % n_heads == 0, "bad number of heads"
        self.d_model = d_model
        self.n_heads = n_heads
        self.W_q = np.random.randn(d_model, d_model)
        self.W_k = np.random.randn(d_model, d_model)
        self.W_v = np.random.randn(d_model, d_model)
        self.W_o = np.random.randn(d_model, d_model)
        # for the optimiser
        self.params = {"W_q": self.W_q, "W_k": self.W_k, "W_v": self.W_v, "W_o": self.W_o}

    def heads(self, x, name):
        x = x @ self.params[name]
        x = x.reshape(x.shape[0], x.shape[1], self.n_heads, self.d_model // self.n_heads)
        return x.transpose(0, 2, 1, 3)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.heads(q, "W_q"), self.heads(k, "W_k"), self.heads(v, "W_v")
        scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(self.d_model // self.n_heads)
        if mask is not None:
            scores = scores + mask * (-1e9)
        scores = scores - scores.max(axis=-1, keepdims=True)
        weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        out = (weights @ v).transpose(0, 2, 1, 3).reshape(q.shape[0], -1, self.d_model)
        return out @ self.params["W_o"], weights
