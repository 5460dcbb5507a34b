# expect: accepted
# problem: mha-numpy
import numpy as np


class MultiHeadAttentionNumpy:
    def __init__(self, d_model: int, n_heads: int):
        if d_model % n_heads:
            raise ValueError("d_model must be divisible by n_heads")
        d = d_model // n_heads
        self.W_q = np.random.randn(n_heads, d_model, d)
        self.W_k = np.random.randn(n_heads, d_model, d)
        self.W_v = np.random.randn(n_heads, d_model, d)
        self.W_o = np.random.randn(n_heads, d, d_model)

    def forward(self, q, k, v, mask=None):
        q = np.einsum("ble,hed->bhld", q, self.W_q)
        k = np.einsum("bse,hed->bhsd", k, self.W_k)
        v = np.einsum("bse,hed->bhsd", v, self.W_v)
        a = np.einsum("bhld,bhsd->bhls", q, k) / q.shape[-1] ** 0.5
        if mask is not None:
            a = a + np.where(np.asarray(mask) == 1, -1e9, 0)
        a = np.exp(a - a.max(axis=-1, keepdims=True))
        a = a / a.sum(axis=-1, keepdims=True)
        return np.einsum("bhls,bhsd,hde->ble", a, v, self.W_o, optimize=True), a
