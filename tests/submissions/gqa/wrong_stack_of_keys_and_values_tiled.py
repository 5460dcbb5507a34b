# expect: rejected
# problem: gqa
# mistake: keys and values in one stack, their heads tiled over the queries' heads
# diagnosis: groups-tiled
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
        q = self.to_q(x).view(b, n, self.H, self.D).transpose(1, 2)
        k, v = (
            (x @ w).view(b, n, self.G, self.D).transpose(1, 2).repeat(1, self.H // self.G, 1, 1)
            for w in self.to_kv
        )
        scores = q @ k.mT / self.D**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        return self.to_out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, e))
