# expect: rejected
# problem: mhsa
# mistake: no position sees further than 64
import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, mask=None):
        n = x.shape[1]
        q, k, v = (m(x).unflatten(2, (self.h, -1)).transpose(1, 2) for m in (self.wq, self.wk, self.wv))
        s = q @ k.mT / q.shape[-1] ** 0.5
        i = torch.arange(n)
        s = s.masked_fill((i[:, None] - i).abs() >= 64, -torch.inf)
        if mask is not None:
            s = s.masked_fill(mask == 0, -torch.inf)
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).flatten(2))
