# expect: rejected
# problem: kv-cache-step
# bfloat16 counts to 256: beyond that a chunk on a warm cache sees some of its own future.
import torch
import torch.nn as nn


class CachedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("embed_dim must be a multiple of num_heads")
        self.h, self.d = num_heads, embed_dim // num_heads
        self.wq = nn.Linear(embed_dim, embed_dim)
        self.wk = nn.Linear(embed_dim, embed_dim)
        self.wv = nn.Linear(embed_dim, embed_dim)
        self.wo = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        B, L, E = x.shape
        q, k, v = (w(x).view(B, L, self.h, self.d).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        if cache is None:
            blocked = torch.ones(L, L, dtype=torch.bool, device=x.device).triu(1)
        else:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
            positions = torch.arange(k.size(2), device=x.device).to(x)
            blocked = positions > positions[-L:, None]
        scores = q @ k.mT * self.d**-0.5
        out = scores.masked_fill(blocked, float("-inf")).softmax(-1) @ v
        return self.wo(out.transpose(1, 2).reshape(B, L, E)), (k, v)
