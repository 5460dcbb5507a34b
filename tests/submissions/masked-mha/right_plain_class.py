# expect: accepted
# problem: masked-mha
import math

import torch
from torch.nn import Linear


class MultiHeadAttention:
    """Kein nn.Module, nur eine Klasse mit Linear-Attributen."""

    def __init__(self, d, h):
        if d % h:
            raise ValueError("d muss durch h teilbar sein")
        self.h = h
        self.Wq = Linear(d, d)
        self.Wk = Linear(d, d)
        self.Wv = Linear(d, d)
        self.Wo = Linear(d, d)

    def split(self, x):
        b, n, e = x.shape
        return x.reshape(b, n, self.h, e // self.h).permute(0, 2, 1, 3)

    def __call__(self, q, k, v, mask=None):
        q, k, v = self.split(self.Wq(q)), self.split(self.Wk(k)), self.split(self.Wv(v))
        s = torch.matmul(q, k.permute(0, 1, 3, 2)) / math.sqrt(q.shape[-1])
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e30)
        w = torch.softmax(s, dim=-1)
        o = torch.matmul(w, v).permute(0, 2, 1, 3)
        return self.Wo(o.reshape(o.shape[0], o.shape[1], -1)), w
