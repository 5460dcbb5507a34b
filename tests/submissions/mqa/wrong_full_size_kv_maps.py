# expect: rejected
# problem: mqa
# mistake: k and v maps of full width, so this is multi-head attention
# diagnosis: full-size-maps
import torch
from torch import nn


class MultiQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q, k, v = (m(x).view(b, n, self.h, -1).transpose(1, 2) for m in (self.W_q, self.W_k, self.W_v))
        s = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        return self.W_o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, e))
