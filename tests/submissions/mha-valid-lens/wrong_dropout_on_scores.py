# expect: rejected
# problem: mha-valid-lens
# mistake: dropout acts on the scores, before the softmax
# diagnosis: none
import torch
from torch import nn
from torch.nn import functional as F


def transpose_qkv(X, num_heads):
    b, l, e = X.shape
    return X.reshape(b, l, num_heads, e // num_heads).permute(0, 2, 1, 3).reshape(b * num_heads, l, e // num_heads)


def transpose_output(X, num_heads):
    n, l, d = X.shape
    return X.reshape(n // num_heads, num_heads, l, d).permute(0, 2, 1, 3).reshape(n // num_heads, l, num_heads * d)


def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        lens = valid_lens.unsqueeze(-1)
        if lens.dim() == 2:
            lens = lens.unsqueeze(-1)
        positions = torch.arange(X.size(-1), device=X.device)
        X = torch.where(positions < lens, X, torch.full((), -1e9, dtype=X.dtype, device=X.device))
    return F.softmax(X, dim=-1)


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        if num_hiddens % num_heads != 0:
            raise ValueError("bad number of heads")
        self.h = num_heads
        self.scale = (num_hiddens // num_heads) ** -0.5
        self.drop = nn.Dropout(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens=None):
        q = transpose_qkv(self.W_q(queries), self.h)
        k = transpose_qkv(self.W_k(keys), self.h)
        v = transpose_qkv(self.W_v(values), self.h)
        scores = self.drop(torch.bmm(q, k.transpose(-2, -1)) * self.scale)
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.h, dim=0)
        context = torch.bmm(masked_softmax(scores, valid_lens), v)
        return self.W_o(transpose_output(context, self.h))
