# expect: accepted
# problem: attention-dropout
# The sizes in its source are asked for, and their weights together are hundreds of MiB.
import math

import torch
from torch import nn

BUCKETS = (64, 128, 256, 512, 1024, 2048)
SCRATCH = 1 << 20  # numbers


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.num_heads = num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(embed_dim, embed_dim) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def rows(self, q, k):
        """How many queries go together: the largest bucket whose scores fit the scratch space."""
        each = math.prod(q.shape[:2]) * k.size(-2)
        return max([1, *(size for size in BUCKETS if size * each <= SCRATCH)])

    def forward(self, q, k, v, mask=None):
        if q.size(0) != k.size(0) or k.shape[:2] != v.shape[:2]:
            raise ValueError("sizes do not fit")
        q, k, v = self.split(self.q_proj(q)), self.split(self.k_proj(k)), self.split(self.v_proj(v))
        if mask is not None:
            mask = mask.expand(*q.shape[:-1], k.size(-2))
        count, parts = self.rows(q, k), []
        for start in range(0, q.size(-2), count):
            rows = slice(start, start + count)
            scores = q[..., rows, :] @ k.mT / math.sqrt(q.size(-1))
            if mask is not None:
                scores = scores.masked_fill(mask[..., rows, :] == 0, torch.finfo(scores.dtype).min)
            parts.append(torch.softmax(scores, dim=-1))
        weights = torch.cat(parts, dim=-2)
        heads = self.dropout(weights) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2)), weights
