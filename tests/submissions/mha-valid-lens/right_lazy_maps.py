# expect: accepted
# problem: mha-valid-lens
# Maps get their shapes from the first call, so that a new layer has none to load yet.
import math

import torch
from torch import nn


def transpose_qkv(X, num_heads):
    if X.shape[-1] % num_heads:
        raise ValueError("num_heads must divide the width")
    return torch.stack(X.chunk(num_heads, dim=-1), dim=1).reshape(-1, X.shape[1], X.shape[2] // num_heads)


def transpose_output(X, num_heads):
    if X.shape[0] % num_heads:
        raise ValueError("num_heads must divide the rows")
    return torch.cat([X[h::num_heads] for h in range(num_heads)], dim=-1)


def masked_softmax(X, valid_lens):
    wide = X.to(torch.promote_types(X.dtype, torch.float32))
    if valid_lens is None:
        counts = torch.ones((), dtype=torch.bool, device=X.device).expand(wide.shape)
    else:
        rows = valid_lens if valid_lens.ndim == 2 else valid_lens[:, None].expand(X.shape[:2])
        if rows.shape != X.shape[:2]:
            raise ValueError("valid_lens must be (N,) or (N, L)")
        counts = torch.arange(X.shape[-1], device=X.device).expand(X.shape) < rows[..., None]
    top = torch.where(counts, wide.detach(), -math.inf).amax(-1, keepdim=True)
    top = top.nan_to_num(neginf=0.0)
    shares = torch.where(counts, wide - top, -math.inf).exp()
    total = shares.sum(-1, keepdim=True)
    return (shares / torch.where(total > 0, total, 1.0)).to(X.dtype)


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False, **kwargs):
        super().__init__(**kwargs)
        if num_hiddens % num_heads:
            raise ValueError("num_heads must divide num_hiddens")
        self.widths = (query_size, key_size, value_size)
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self.W_q = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_k = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_v = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_o = nn.LazyLinear(num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        if (queries.shape[-1], keys.shape[-1], values.shape[-1]) != self.widths:
            raise ValueError(f"wanted widths {self.widths}")
        if keys.shape[:2] != values.shape[:2] or keys.shape[0] != queries.shape[0]:
            raise ValueError("lengths or batches differ")
        h = self.num_heads
        q = transpose_qkv(self.W_q(queries), h)
        k = transpose_qkv(self.W_k(keys), h)
        v = transpose_qkv(self.W_v(values), h)
        wide = torch.promote_types(q.dtype, torch.float32)
        scores = torch.bmm(q.to(wide), k.to(wide).transpose(1, 2)) / math.sqrt(q.shape[-1])
        if valid_lens is not None:
            valid_lens = torch.repeat_interleave(valid_lens, h, dim=0)
        weights = self.dropout(masked_softmax(scores, valid_lens))
        heads = torch.bmm(weights, v.to(wide)).to(q.dtype)
        return self.W_o(transpose_output(heads, h)), weights
