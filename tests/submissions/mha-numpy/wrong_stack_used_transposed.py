# expect: rejected
# problem: mha-numpy
# mistake: the arrays of the stack are used as x @ W.T
# diagnosis: transposed-arrays
import numpy as np


class MultiHeadAttentionNumpy:
    def __init__(self, d_model, n_heads):
        if d_model % n_heads:
            raise ValueError("d_model % n_heads != 0")
        self.H = n_heads
        self.W = np.random.standard_normal((4, d_model, d_model)) / np.sqrt(d_model)

    def split(self, x):
        return x.reshape(*x.shape[:2], self.H, -1).transpose(0, 2, 1, 3)

    def forward(self, q, k, v, mask=None):
        Q, K, V = (self.split(x @ w.T) for x, w in zip((q, k, v), self.W[:3]))
        S = Q @ K.transpose(0, 1, 3, 2) / np.sqrt(Q.shape[-1])
        if mask is not None:
            S = np.where(mask, -np.inf, S)
        A = np.exp(S - S.max(axis=-1, keepdims=True))
        A = A / A.sum(axis=-1, keepdims=True)
        return (A @ V).transpose(0, 2, 1, 3).reshape(q.shape) @ self.W[3].T, A
