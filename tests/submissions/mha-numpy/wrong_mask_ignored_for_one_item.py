# expect: rejected
# problem: mha-numpy
# mistake: a batch of one item ignores its mask
import numpy as np
def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)
class MultiHeadAttentionNumpy:
    def __init__(self, d_model, n_heads):
        assert d_model % n_heads == 0
        self.d_model, self.n_heads, self.d_k = d_model, n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (np.random.randn(d_model, d_model) / np.sqrt(d_model) for _ in range(4))
    def split(self, x):
        B, L, _ = x.shape
        return x.reshape(B, L, self.n_heads, self.d_k).transpose(0, 2, 1, 3)
    def forward(self, q, k, v, mask=None):
        B, L, E = q.shape
        Q, K, V = self.split(q @ self.W_q), self.split(k @ self.W_k), self.split(v @ self.W_v)
        s = Q @ K.transpose(0, 1, 3, 2) / np.sqrt(self.d_k)
        if mask is not None and B > 1:
            s = np.where(mask != 0, -1e9, s)
        w = softmax(s)
        out = (w @ V).transpose(0, 2, 1, 3).reshape(B, L, E)
        return out @ self.W_o, w
