# expect: accepted
# problem: mha-numpy
from collections import UserDict
from enum import Enum

import numpy as np


class Use(Enum):
    QUERY = 1
    KEY = 2
    VALUE = 3


class Store(UserDict):
    """Refuses arrays that are not square."""

    def __setitem__(self, key, value):
        if isinstance(value, np.ndarray) and value.shape[0] != value.shape[1]:
            raise ValueError(key)
        super().__setitem__(key, value)


class MultiHeadAttentionNumpy:
    def __init__(self, d_model, n_heads):
        if d_model % n_heads:
            raise ValueError("n_heads")
        self.n_heads = n_heads
        draw = np.random.default_rng(0).normal
        maps = Store({("w", use): draw(size=(d_model, d_model)) for use in Use})
        self.config = {"layers": [{"attention": {"in": [{"maps": maps}]}}]}
        self.config["layers"][0]["attention"]["out"] = {0: draw(size=(d_model, d_model))}
        self.config["root"] = self.config

    def forward(self, q, k, v, mask=None):
        attention = self.config["layers"][0]["attention"]
        maps = attention["in"][0]["maps"]
        b, n, e = q.shape
        q, k, v = (
            (x @ maps["w", use]).reshape(b, n, self.n_heads, -1).swapaxes(1, 2)
            for use, x in zip(Use, (q, k, v))
        )
        s = q @ k.swapaxes(2, 3) / q.shape[-1] ** 0.5
        if mask is not None:
            s = np.where(mask != 0, -np.inf, s)
        s = np.exp(s - s.max(-1, keepdims=True))
        s /= s.sum(-1, keepdims=True)
        return (s @ v).swapaxes(1, 2).reshape(b, n, e) @ attention["out"][0], s
