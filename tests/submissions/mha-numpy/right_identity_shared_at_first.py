# expect: accepted
# problem: mha-numpy
import numpy as np


class MultiHeadAttentionNumpy:
    def __init__(self, d_model, n_heads):
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads = n_heads
        self.W_q = self.W_k = self.W_v = self.W_o = np.eye(d_model)

    def forward(self, q, k, v, mask=None):
        B, L, E = q.shape
        H, D = self.n_heads, E // self.n_heads
        Q = (q @ self.W_q).reshape(B, L, H, D).transpose(0, 2, 1, 3)
        K = (k @ self.W_k).reshape(B, L, H, D).transpose(0, 2, 1, 3)
        V = (v @ self.W_v).reshape(B, L, H, D).transpose(0, 2, 1, 3)
        S = Q @ K.transpose(0, 1, 3, 2) / np.sqrt(D)
        if mask is not None:
            S = S + mask * -1e9
        S = np.exp(S - S.max(-1, keepdims=True))
        A = S / S.sum(-1, keepdims=True)
        return (A @ V).transpose(0, 2, 1, 3).reshape(B, L, E) @ self.W_o, A
