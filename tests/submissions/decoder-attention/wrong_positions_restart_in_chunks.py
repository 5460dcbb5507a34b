# expect: rejected
# problem: decoder-attention
# mistake: each call counts its positions from 0, as if nothing were cached
# diagnosis: positions-start-at-zero
import math

import torch
import torch.nn as nn


class LlamaAttention(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads, window=None):
        super().__init__()
        self.head_dim = dim // n_heads
        if dim % n_heads or n_heads % n_kv_heads or self.head_dim % 2:
            raise ValueError("sizes")
        self.n_rep = n_heads // n_kv_heads
        self.window = window
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)

    def rope(self, x):
        seq_len = x.shape[2]
        inv_freq = 10000.0 ** (-torch.arange(0, self.head_dim, 2).float() / self.head_dim)
        angles = torch.outer(torch.arange(seq_len).float(), inv_freq)
        cos, sin = (torch.cat((t, t), -1).to(x.dtype) for t in (angles.cos(), angles.sin()))
        half = self.head_dim // 2
        return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin

    def forward(self, x, cache=None):
        b, n, e = x.shape
        split = lambda t: t.view(b, n, -1, self.head_dim).transpose(1, 2)
        q, k, v = self.rope(split(self.wq(x))), self.rope(split(self.wk(x))), split(self.wv(x))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        total = k.shape[2]
        keys, values = (t.repeat_interleave(self.n_rep, 1) for t in (k, v))
        i, j = torch.arange(total - n, total)[:, None], torch.arange(total)
        seen = (j <= i) & (i - j < (self.window or total))
        scores = (q @ keys.mT / math.sqrt(self.head_dim)).masked_fill(~seen, -math.inf)
        return self.wo((scores.softmax(-1) @ values).transpose(1, 2).reshape(b, n, e)), (k, v)
