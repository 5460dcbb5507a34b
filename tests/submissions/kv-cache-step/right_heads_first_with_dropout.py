# expect: accepted
# problem: kv-cache-step
import math

import torch
import torch.nn as nn

print("cached attention loaded")


class CachedSelfAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.d_k = d_model // h
        self.h = h
        self.linears = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(4)])
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x, cache=None):
        nbatches, n, _ = x.shape
        query, key, value = [
            lin(x).view(nbatches, n, self.h, self.d_k).transpose(1, 2) for lin in self.linears[:3]
        ]
        if cache is not None:
            key = torch.cat([cache[0], key], 2)
            value = torch.cat([cache[1], value], 2)
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(self.d_k)
        if n > 1:  # a single new token may look at everything
            total = key.size(2)
            mask = torch.tril(torch.ones(total, total, device=x.device))[-n:]
            scores = scores.masked_fill(mask == 0, -1e9)
        p_attn = self.dropout(scores.softmax(dim=-1))
        y = torch.matmul(p_attn, value).transpose(1, 2).contiguous().view(nbatches, n, self.h * self.d_k)
        return self.linears[-1](y), (key, value)
