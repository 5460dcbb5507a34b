import math

import torch
from torch import nn


def transpose_qkv(X, num_heads):
    X = X.reshape(*X.shape[:2], num_heads, X.shape[2] // num_heads)
    return X.transpose(1, 2)


def transpose_output(X, num_heads):
    return X.transpose(1, 2).flatten(2)


def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    positions = torch.arange(X.shape[-1], device=X.device)
    lens = valid_lens[..., None, None] if valid_lens.ndim < X.ndim - 1 else valid_lens[..., None]
    return torch.softmax(X.masked_fill(positions >= lens, -math.inf), dim=-1)


class MultiHeadAttention(nn.Module):
    def __init__(
        self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False
    ):
        super().__init__()
        if num_heads < 1 or num_hiddens % num_heads:
            raise ValueError("the heads do not divide the width")
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens=None):
        q = transpose_qkv(self.W_q(queries), self.num_heads)
        k = transpose_qkv(self.W_k(keys), self.num_heads)
        v = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, 0)
            valid_lens = valid_lens.unflatten(0, (-1, self.num_heads))

        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = masked_softmax(scores, valid_lens)
        heads = self.dropout(weights) @ v
        return self.W_o(transpose_output(heads, self.num_heads))
