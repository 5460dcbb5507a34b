# expect: accepted
# problem: gqa
import math

import torch
import torch.nn as nn


class GroupedQueryAttention(nn.Module):
    """Batch and group folded into one axis, H/G query heads stacked along the length."""

    def __init__(self, d_model, nhead, num_kv_heads, dropout=0.0):
        super().__init__()
        if d_model % nhead or nhead % num_kv_heads:
            raise ValueError("d_model % nhead and nhead % num_kv_heads must be 0")
        self.h, self.g, self.r, self.d = nhead, num_kv_heads, nhead // num_kv_heads, d_model // nhead
        self.linear_q = nn.Linear(d_model, d_model, bias=False)
        self.linear_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.linear_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.linear_out = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q = self.linear_q(x).view(b, n, self.g, self.r, self.d).permute(0, 2, 3, 1, 4).reshape(-1, self.r * n, self.d)
        k = self.linear_k(x).view(b, n, self.g, self.d).permute(0, 2, 3, 1).reshape(-1, self.d, n)
        v = self.linear_v(x).view(b, n, self.g, self.d).transpose(1, 2).reshape(-1, n, self.d)
        bias = torch.zeros(b, self.h, n, n, dtype=x.dtype, device=x.device)
        if mask is not None:
            bias = bias.masked_fill(mask == 0, -1e9)
        bias = bias.view(b * self.g, self.r * n, n)
        p = self.drop(torch.softmax(torch.baddbmm(bias, q, k, alpha=1 / math.sqrt(self.d)), dim=-1))
        y = torch.bmm(p, v).view(b, self.g, self.r, n, self.d)
        return [self.linear_out(y.permute(0, 3, 1, 2, 4).reshape(b, n, e)), p.view(b, self.h, n, n)]
