# expect: accepted
# problem: masked-mha
import math

import torch
import torch.nn as nn


class Head(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.query = nn.Linear(width, size, bias=False)
        self.key = nn.Linear(width, size, bias=False)
        self.value = nn.Linear(width, size, bias=False)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.query(q), self.key(k), self.value(v)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        return scores.softmax(dim=-1) @ v


class MultiHeadAttention(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        assert n_embd % n_head == 0
        self.heads = nn.ModuleList([Head(n_embd, n_embd // n_head) for _ in range(n_head)])
        self.proj = nn.Linear(n_embd, n_embd)

    def forward(self, q, k, v, mask=None):
        outs = []
        for i, head in enumerate(self.heads):
            m = mask
            if m is not None and m.dim() == 4:
                m = m[:, i if m.size(1) > 1 else 0]
            outs.append(head(q, k, v, m))
        return self.proj(torch.cat(outs, dim=-1))
