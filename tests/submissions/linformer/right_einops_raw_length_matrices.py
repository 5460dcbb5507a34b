# expect: accepted
# problem: linformer
import math

import torch
from torch import nn


def init_(tensor):
    std = 1 / math.sqrt(tensor.shape[-1])
    tensor.uniform_(-std, std)
    return tensor


class LinformerSelfAttention(nn.Module):
    def __init__(self, dim, seq_len, k=256, heads=8, dropout=0.0):
        super().__init__()
        assert (dim % heads) == 0, "dimension must be divisible by the number of heads"
        self.seq_len = seq_len
        self.heads = heads
        self.dim_head = dim // heads
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_k = nn.Linear(dim, dim, bias=False)
        self.proj_k = nn.Parameter(init_(torch.zeros(seq_len, k)))
        self.to_v = nn.Linear(dim, dim, bias=False)
        self.proj_v = nn.Parameter(init_(torch.zeros(seq_len, k)))
        self.dropout = nn.Dropout(dropout)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x, context=None):
        b, n, d = x.shape
        h, d_h = self.heads, self.dim_head
        kv_len = n if context is None else context.shape[1]
        assert kv_len <= self.seq_len, "the sequence is longer than the layer was made for"
        queries = self.to_q(x).reshape(b, n, h, -1).transpose(1, 2)
        kv_input = x if context is None else context
        keys, values = self.to_k(kv_input), self.to_v(kv_input)
        kv_projs = (self.proj_k[:kv_len], self.proj_v[:kv_len])
        keys, values = (
            torch.einsum("bnd,nk->bkd", *args) for args in zip((keys, values), kv_projs)
        )
        keys, values = (t.reshape(b, -1, h, d_h).transpose(1, 2) for t in (keys, values))
        dots = torch.einsum("bhnd,bhkd->bhnk", queries, keys) * (d_h**-0.5)
        attn = self.dropout(dots.softmax(dim=-1))
        out = torch.einsum("bhnk,bhkd->bhnd", attn, values)
        return self.to_out(out.transpose(1, 2).reshape(b, n, -1))
