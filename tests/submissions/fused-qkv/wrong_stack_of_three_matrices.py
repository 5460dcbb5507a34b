# expect: rejected
# problem: fused-qkv
# mistake: three matrices in a stack (3, E, E) instead of one map E → 3E
# diagnosis: three-maps
import torch
from torch import nn


class FusedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads does not divide embed_dim")
        self.num_heads = num_heads
        self.W = nn.Parameter(torch.randn(3, embed_dim, embed_dim) / embed_dim**0.5)
        self.b = nn.Parameter(torch.zeros(3, embed_dim))
        self.out = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        y = torch.einsum("ble,sef->sblf", x, self.W) + self.b[:, None, None]
        q, k, v = y.unflatten(-1, (self.num_heads, -1)).transpose(2, 3)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
