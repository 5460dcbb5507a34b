# expect: rejected
# problem: mhsa
# mistake: keeps the first mask of each length
import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.known = {}
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q, k, v = (m(x).view(b, n, self.h, -1).transpose(1, 2) for m in (self.q, self.k, self.v))
        a = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            bias = self.known.setdefault(mask.shape, torch.where(mask == 0, -torch.inf, 0.0))
            a = a + bias.to(a.dtype)
        return self.o((a.softmax(-1) @ v).transpose(1, 2).reshape(b, n, e))
