# expect: accepted
# problem: mha-numpy
import numpy as np


class MultiHeadAttentionNumpy:
    def __init__(self, d_model, n_heads):
        if d_model % n_heads:
            raise ValueError("n_heads")
        self.n_heads = n_heads
        for name in "qkvo":
            setattr(self, f"W_{name}", np.random.randn(d_model, d_model))
            setattr(self, f"b_{name}", np.zeros(d_model))
            setattr(self, f"dW_{name}", np.zeros((d_model, d_model)))
            setattr(self, f"db_{name}", np.zeros(d_model))
        self.grads = {f"b_{name}": np.zeros(d_model) for name in "qkvo"}

    def forward(self, q, k, v, mask=None):
        b, n, e = q.shape
        q, k, v = q @ self.W_q + self.b_q, k @ self.W_k + self.b_k, v @ self.W_v + self.b_v
        q, k, v = (x.reshape(b, n, self.n_heads, -1).swapaxes(1, 2) for x in (q, k, v))
        s = q @ k.swapaxes(2, 3) / q.shape[-1] ** 0.5
        if mask is not None:
            s = np.where(mask != 0, -np.inf, s)
        s = np.exp(s - s.max(-1, keepdims=True))
        s /= s.sum(-1, keepdims=True)
        return (s @ v).swapaxes(1, 2).reshape(b, n, e) @ self.W_o + self.b_o, s

    def zero_grad(self):
        for name in "qkvo":
            getattr(self, f"dW_{name}").fill(0)
            getattr(self, f"db_{name}").fill(0)
