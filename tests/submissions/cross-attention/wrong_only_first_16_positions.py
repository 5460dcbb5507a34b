# expect: rejected
# problem: cross-attention
# mistake: reads sixteen positions of the context at most
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_context):
        super().__init__()
        assert d_model % n_heads == 0
        self.h = n_heads
        self.d = d_model // n_heads
        self.c = d_context
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_context, d_model)
        self.Wv = nn.Linear(d_context, d_model)
        self.Wo = nn.Linear(d_model, d_model)

    def forward(self, x, context, mask=None):
        B, L, E = x.shape
        context = context[:, :16]
        mask = None if mask is None else mask[:, :16]
        S = context.shape[1]
        q = self.Wq(x).view(B, L, self.h, self.d).transpose(1, 2)
        k = self.Wk(context).view(B, S, self.h, self.d).transpose(1, 2)
        v = self.Wv(context).view(B, S, self.h, self.d).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.d)
        if mask is not None:
            scores = scores.masked_fill(mask[:, None, None, :] == 0, -1e9)
        w = F.softmax(scores, dim=-1)
        out = torch.matmul(w, v).transpose(1, 2).contiguous().view(B, L, E)
        return self.Wo(out), w
