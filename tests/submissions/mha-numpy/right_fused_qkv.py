# expect: accepted
# problem: mha-numpy
import numpy as np


class MHA:
    def __init__(self, dim, heads):
        if dim % heads:
            raise ValueError("dim % heads")
        self.heads = heads
        self.W_qkv = np.random.randn(dim, 3 * dim) / np.sqrt(dim)
        self.W_out = np.random.randn(dim, dim) / np.sqrt(dim)

    def forward(self, q, k, v, mask=None):
        dim = self.W_out.shape[0]
        w = self.W_qkv.reshape(dim, 3, dim)
        q, k, v = (
            (x @ w[:, i]).reshape(x.shape[0], x.shape[1], self.heads, -1).swapaxes(1, 2)
            for i, x in enumerate((q, k, v))
        )
        s = q @ k.swapaxes(-1, -2)
        s *= q.shape[-1] ** -0.5
        if mask is not None:
            s -= 1e9 * mask
        s -= np.logaddexp.reduce(s, axis=-1, keepdims=True)
        np.exp(s, out=s)
        y = (s @ v).swapaxes(1, 2).reshape(q.shape[0], -1, dim)
        return [y @ self.W_out, s]
