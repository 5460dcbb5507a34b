# expect: accepted
# problem: kv-cache-step
import torch
from torch import nn


class KVCacheAttention(nn.Module):
    """The cache and the new positions are two blocks, joined by their log-sum-exp."""

    def __init__(self, dim, heads):
        super().__init__()
        if heads < 1 or dim % heads:
            raise ValueError("heads")
        self.heads = heads
        self.wq = nn.Parameter(torch.randn(dim, dim) * dim**-0.5)
        self.wk = nn.Parameter(torch.randn(dim, dim) * dim**-0.5)
        self.wv = nn.Parameter(torch.randn(dim, dim) * dim**-0.5)
        self.wo = nn.Parameter(torch.randn(dim, dim) * dim**-0.5)

    @staticmethod
    def block(q, k, v, keep=None):
        s = q @ k.mT * q.shape[-1] ** -0.5
        if keep is not None:
            s = s.masked_fill(~keep, float("-inf"))
        top = s.amax(-1, keepdim=True)
        e = torch.exp(s - top)
        return e @ v, e.sum(-1, keepdim=True), top

    def forward(self, x, cache=None):
        q, k, v = ((x @ w).unflatten(-1, (self.heads, -1)).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        n = x.shape[1]
        keep = torch.ones(n, n, device=x.device).tril() > 0
        y, total, top = self.block(q, k, v, keep)
        if cache is not None:
            old_y, old_total, old_top = self.block(q, *cache)
            both = torch.maximum(top, old_top)
            a, b = torch.exp(top - both), torch.exp(old_top - both)
            y, total = a * y + b * old_y, a * total + b * old_total
            k, v = torch.cat((cache[0], k), dim=2), torch.cat((cache[1], v), dim=2)
        return (y / total).transpose(1, 2).flatten(2) @ self.wo, (k, v)
