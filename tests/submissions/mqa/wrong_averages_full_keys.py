# expect: rejected
# problem: mqa
# mistake: full maps, averaged over the heads in every call
import torch
from torch import nn


class MultiQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q, k, v = (m(x).view(b, n, self.h, -1).transpose(1, 2) for m in (self.q, self.k, self.v))
        k, v = k.mean(1, keepdim=True), v.mean(1, keepdim=True)
        s = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -torch.inf)
        return self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, e))
