# expect: rejected
# problem: mhsa
# mistake: fills with 1e-9 instead of -1e9
# diagnosis: blocked-scores-zero
import math

import torch
import torch.nn as nn


class MultiHeadedSelfAttention(nn.Module):
    def __init__(self, h, d_model):
        super().__init__()
        assert d_model % h == 0
        self.h = h
        self.linears = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(4)])

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q, k, v = [lin(x).view(b, n, self.h, -1).transpose(1, 2) for lin in self.linears[:3]]
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask == 0, 1e-9)
        p = torch.softmax(scores, dim=-1)
        return self.linears[-1](torch.matmul(p, v).transpose(1, 2).reshape(b, n, e)), p
