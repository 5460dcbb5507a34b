# expect: rejected
# problem: mha-numpy
# mistake: blocked scores are lowered by 10
# diagnosis: mask-penalty-too-small
import numpy as np


def softmax(z):
    z = np.exp(z - z.max(-1, keepdims=True))
    return z / z.sum(-1, keepdims=True)


class MultiHeadAttentionNumpy:
    def __init__(self, d_model, n_heads):
        assert d_model % n_heads == 0, "d_model must be divisible by n_heads"
        self.E, self.H, self.D = d_model, n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (
            np.random.randn(d_model, d_model) / np.sqrt(d_model) for _ in range(4)
        )

    def heads(self, x):
        return x.reshape(x.shape[0], -1, self.H, self.D).transpose(0, 2, 1, 3)

    def forward(self, q, k, v, mask=None):
        Q, K, V = self.heads(q @ self.W_q), self.heads(k @ self.W_k), self.heads(v @ self.W_v)
        S = np.einsum("bhid,bhjd->bhij", Q, K) / np.sqrt(self.D)
        if mask is not None:
            S = S + mask * -10.0
        A = softmax(S)
        Z = np.einsum("bhij,bhjd->bhid", A, V)
        Z = Z.transpose(0, 2, 1, 3).reshape(Z.shape[0], -1, self.E)
        return Z @ self.W_o, A
