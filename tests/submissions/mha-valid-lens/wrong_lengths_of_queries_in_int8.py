# expect: rejected
# problem: mha-valid-lens
# A length above 127 is another one in int8.
import torch
from einops import rearrange, repeat
from torch import nn


def transpose_qkv(X, num_heads):
    return rearrange(X, "b l (h d) -> (b h) l d", h=num_heads)


def transpose_output(X, num_heads):
    return rearrange(X, "(b h) l d -> b l (h d)", h=num_heads)


def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.softmax(-1)
    n, l, s = X.shape
    lens = repeat(valid_lens, "n -> n l", l=l) if valid_lens.ndim == 1 else valid_lens.to(torch.int8)
    keep = torch.arange(s, device=X.device) < lens[..., None]
    return torch.where(keep, X, torch.finfo(X.dtype).min).softmax(-1)


class MultiHeadAttention(nn.Module):
    """Works on (B, H, L, D) inside and never folds; lengths get an axis for the heads."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        if num_hiddens % num_heads:
            raise ValueError("num_heads must divide num_hiddens")
        self.h = num_heads
        self.to_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.to_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.to_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.to_out = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        q, k, v = (
            rearrange(f(t), "b l (h d) -> b h l d", h=self.h)
            for f, t in ((self.to_q, queries), (self.to_k, keys), (self.to_v, values))
        )
        sim = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
        if valid_lens is not None:
            lens = valid_lens if valid_lens.ndim == 1 else valid_lens.to(torch.int8)
            lens = lens.view(len(lens), 1, -1, 1)
            sim = sim.masked_fill(torch.arange(sim.shape[-1]) >= lens, float("-inf"))
        attn = sim.softmax(-1)
        out = torch.einsum("bhij,bhjd->bhid", self.drop(attn), v)
        return self.to_out(rearrange(out, "b h l d -> b l (h d)")), attn
