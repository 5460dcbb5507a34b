# expect: accepted
# problem: kv-cache-step
import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide {embed_dim}")
        self.num_heads = num_heads
        scale = embed_dim**-0.5
        self.Wq = nn.Parameter(torch.randn(embed_dim, embed_dim) * scale)
        self.Wk = nn.Parameter(torch.randn(embed_dim, embed_dim) * scale)
        self.Wv = nn.Parameter(torch.randn(embed_dim, embed_dim) * scale)
        self.Wo = nn.Parameter(torch.randn(embed_dim, embed_dim) * scale)

    def forward(self, x, cache=None):
        heads = lambda t: t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        q, k, v = heads(x @ self.Wq), heads(x @ self.Wk), heads(x @ self.Wv)
        # among the new tokens: triangular; towards the old ones: everything
        new = (q @ k.mT).masked_fill(~torch.ones(x.shape[1], x.shape[1], device=x.device).tril().bool(), -torch.inf)
        if cache is None:
            scores = new
        else:
            scores = torch.cat([q @ cache[0].mT, new], dim=-1)
            k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
        p = (scores / q.shape[-1] ** 0.5).softmax(-1)
        return (p @ v).transpose(1, 2).flatten(2) @ self.Wo, (k, v)
