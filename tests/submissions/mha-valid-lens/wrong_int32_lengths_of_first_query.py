# expect: rejected
# problem: mha-valid-lens
# mistake: of lengths in int32 only those of the first query count
import math
import torch
import torch.nn.functional as F
from torch import nn

def transpose_qkv(X, num_heads):
    if X.shape[-1] % num_heads: raise ValueError
    X = X.reshape(X.shape[0], X.shape[1], num_heads, -1).permute(0, 2, 1, 3)
    return X.reshape(-1, X.shape[2], X.shape[3])
def transpose_output(X, num_heads):
    if X.shape[0] % num_heads: raise ValueError
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2]).permute(0, 2, 1, 3)
    return X.reshape(X.shape[0], X.shape[1], -1)
def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.softmax(-1)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens[:, None]
    if valid_lens.dtype == torch.int32 and valid_lens.shape[1] > 1: valid_lens = valid_lens[:, :1]
    keep = torch.arange(X.shape[-1]) < valid_lens[:, :, None]
    return X.masked_fill(~keep, float("-inf")).softmax(-1)
class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.num_heads = num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)
    def forward(self, queries, keys, values, valid_lens):
        q = transpose_qkv(self.W_q(queries), self.num_heads)
        k = transpose_qkv(self.W_k(keys), self.num_heads)
        v = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            valid_lens = torch.repeat_interleave(valid_lens, self.num_heads, dim=0)
        s = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])
        w = masked_softmax(s, valid_lens)
        w = self.dropout(w)
        return self.W_o(transpose_output(torch.bmm(w, v), self.num_heads))
