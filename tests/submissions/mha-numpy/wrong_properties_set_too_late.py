# expect: rejected
# problem: mha-numpy
# mistake: the setters keep what they are given, and forward uses what the constructor drew
import numpy as np


def array(name):
    return property(
        lambda self: self.store[name], lambda self, value: self.store.__setitem__(name, value)
    )


class MultiHeadAttentionNumpy:
    W_q, W_k, W_v, W_o = map(array, "qkvo")

    def __init__(self, d_model, n_heads):
        assert d_model % n_heads == 0
        self.n_heads = n_heads
        draw = np.random.default_rng().standard_normal
        self.store = {name: draw((d_model, d_model)) / d_model**0.5 for name in "qkvo"}
        weights = [self.W_q.copy(), self.W_k.copy(), self.W_v.copy(), self.W_o.copy()]
        self.maps = [lambda x, w=w: x @ w for w in weights]

    def forward(self, q, k, v, mask=None):
        b, n, e = q.shape
        q, k, v = (
            f(x).reshape(b, n, self.n_heads, -1).swapaxes(1, 2)
            for f, x in zip(self.maps, (q, k, v), strict=False)
        )
        s = q @ k.swapaxes(2, 3) / q.shape[-1] ** 0.5
        if mask is not None:
            s = np.where(mask != 0, -np.inf, s)
        s = np.exp(s - s.max(-1, keepdims=True))
        s /= s.sum(-1, keepdims=True)
        return self.maps[3]((s @ v).swapaxes(1, 2).reshape(b, n, e)), s
