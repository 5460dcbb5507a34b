# expect: accepted
# problem: kv-cache-step
import math

import torch
import torch.nn as nn


class CachedSelfAttention(nn.Module):
    """Heads folded into the batch for the products, unfolded for the cache."""

    def __init__(self, d_model, nhead):
        super().__init__()
        if d_model % nhead:
            raise ValueError("nhead must divide d_model")
        self.nhead, self.d = nhead, d_model // nhead
        self.linear_q = nn.Linear(d_model, d_model, bias=False)
        self.linear_k = nn.Linear(d_model, d_model, bias=False)
        self.linear_v = nn.Linear(d_model, d_model, bias=False)
        self.linear_out = nn.Linear(d_model, d_model)

    def fold(self, x):
        b, n, _ = x.shape
        return x.view(b, n, self.nhead, self.d).transpose(1, 2).reshape(b * self.nhead, n, self.d)

    def forward(self, x, cache=None):
        b, n, e = x.shape
        q, k, v = self.fold(self.linear_q(x)), self.fold(self.linear_k(x)), self.fold(self.linear_v(x))
        t = 0
        if cache is not None:
            t = cache[0].shape[2]
            k = torch.cat([cache[0].flatten(0, 1), k], dim=1)
            v = torch.cat([cache[1].flatten(0, 1), v], dim=1)
        rows = torch.arange(t, t + n, device=x.device).unsqueeze(1)
        cols = torch.arange(t + n, device=x.device)
        bias = torch.zeros(n, t + n, dtype=x.dtype, device=x.device).masked_fill(cols > rows, -1e9)
        w = torch.baddbmm(bias, q, k.transpose(1, 2), alpha=1 / math.sqrt(self.d)).softmax(dim=-1)
        y = torch.bmm(w, v).view(b, self.nhead, n, self.d).transpose(1, 2).reshape(b, n, e)
        new = [t.unflatten(0, (b, self.nhead)) for t in (k, v)]
        return [self.linear_out(y), new]
