# expect: accepted
# problem: relative-bias
import torch
from torch import nn

class RelativeAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, max_distance):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h, self.m = num_heads, max_distance
        self.A = nn.Parameter(torch.randn(embed_dim, embed_dim) * 0.1)
        self.B = nn.Parameter(torch.randn(embed_dim, embed_dim) * 0.1)
        self.C = nn.Parameter(torch.randn(embed_dim, embed_dim) * 0.1)
        self.Z = nn.Parameter(torch.randn(embed_dim, embed_dim) * 0.1)
        self.rel = nn.Embedding(2 * max_distance + 1, num_heads)

    def forward(self, x):
        b, n, e = x.shape
        d = e // self.h
        q = (x @ self.A).reshape(b, n, self.h, d)
        k = (x @ self.B).reshape(b, n, self.h, d)
        v = (x @ self.C).reshape(b, n, self.h, d)
        pos = torch.arange(n, device=x.device)
        dist = (pos[None] - pos[:, None]).clamp(-self.m, self.m) + self.m
        logits = torch.einsum("bqhd,bkhd->bqkh", q, k) / d ** 0.5 + self.rel(dist)
        w = logits.softmax(dim=2)
        return torch.einsum("bqkh,bkhd->bqhd", w, v).reshape(b, n, e) @ self.Z
