# expect: accepted
# problem: linformer
# Lists of one map per head beside two length maps whose names say nothing.
import torch
from torch import nn


class LinformerSelfAttention(nn.Module):
    def __init__(self, dim, heads, seq_len, k):
        super().__init__()
        if dim % heads:
            raise ValueError
        d = dim // heads
        self.q = nn.ModuleList(nn.Linear(dim, d) for _ in range(heads))
        self.k = nn.ModuleList(nn.Linear(dim, d) for _ in range(heads))
        self.v = nn.ModuleList(nn.Linear(dim, d) for _ in range(heads))
        self.c1 = nn.Linear(seq_len, k)
        self.c2 = nn.Linear(seq_len, k)
        self.o = nn.Linear(dim, dim)

    def forward(self, x):
        y = []
        for q, k, v in zip(self.q, self.k, self.v):
            a, b, c = q(x), self.c1(k(x).mT), self.c2(v(x).mT)
            y.append((a @ b / a.shape[-1] ** 0.5).softmax(-1) @ c.mT)
        return self.o(torch.cat(y, -1))
