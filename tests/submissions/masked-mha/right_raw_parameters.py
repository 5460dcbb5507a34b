# expect: accepted
# problem: masked-mha
import torch
from torch import nn


class MHA(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        if dim % heads != 0:
            raise ValueError(f"dim={dim} not divisible by heads={heads}")
        self.heads = heads
        self.wq = nn.Parameter(torch.randn(dim, dim) * dim**-0.5)
        self.wk = nn.Parameter(torch.randn(dim, dim) * dim**-0.5)
        self.wv = nn.Parameter(torch.randn(dim, dim) * dim**-0.5)
        self.wo = nn.Parameter(torch.randn(dim, dim) * dim**-0.5)

    def _heads(self, x, w):
        return (x @ w).unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, q, k, v, mask=None):
        q, k, v = self._heads(q, self.wq), self._heads(k, self.wk), self._heads(v, self.wv)
        s = q @ k.mT * q.shape[-1] ** -0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        p = s.softmax(-1)
        return (p @ v).transpose(1, 2).flatten(2) @ self.wo, p
