# expect: rejected
# problem: mhsa
# mistake: scores are clamped so that exp does not overflow
import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q, k, v = (m(x).view(b, n, self.h, -1).transpose(1, 2) for m in (self.q, self.k, self.v))
        a = torch.exp((q @ k.mT / q.shape[-1] ** 0.5).clamp(-60, 60))
        if mask is not None:
            a = a * (mask != 0)
        a = a / a.sum(-1, keepdim=True)
        return self.o((a @ v).transpose(1, 2).reshape(b, n, e))
