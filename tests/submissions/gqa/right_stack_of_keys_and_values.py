# expect: accepted
# problem: gqa
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads or num_heads % num_kv_heads:
            raise ValueError("sizes do not divide")
        self.H, self.G, self.D = num_heads, num_kv_heads, embed_dim // num_heads
        self.to_q = nn.Linear(embed_dim, embed_dim, bias=False)
        self.to_kv = nn.Parameter(torch.randn(2, embed_dim, self.G * self.D) * 0.02)
        self.to_out = nn.Linear(embed_dim, embed_dim, bias=False)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q = self.to_q(x).view(b, n, self.G, self.H // self.G, self.D)
        k, v = (x @ self.to_kv[i] for i in range(2))
        k, v = k.view(b, n, self.G, self.D), v.view(b, n, self.G, self.D)
        scores = torch.einsum("bigrd,bjgd->bgrij", q, k).flatten(1, 2) / self.D**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = scores.softmax(-1).unflatten(1, (self.G, -1))
        return self.to_out(torch.einsum("bgrij,bjgd->bigrd", weights, v).reshape(b, n, e))
