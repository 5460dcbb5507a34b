# expect: accepted
# problem: mha-valid-lens
# No parameter of the constructor has a name that says anything: all go by their position.
import torch
from torch import nn


def transpose_qkv(x, heads):
    if x.shape[-1] % heads:
        raise ValueError("the heads must divide the width")
    return x.unflatten(-1, (heads, -1)).transpose(1, 2).flatten(0, 1)


def transpose_output(x, heads):
    if x.shape[0] % heads:
        raise ValueError("the heads must divide the rows")
    return x.unflatten(0, (-1, heads)).transpose(1, 2).flatten(2)


def masked_softmax(scores, lengths):
    if lengths is not None:
        places = torch.arange(scores.shape[-1], device=scores.device)
        limit = lengths.reshape(lengths.shape[0], -1, 1)
        scores = scores.masked_fill(places >= limit, -1e9)
    return scores.softmax(dim=-1)


class MultiHeadAttention(nn.Module):
    def __init__(self, 甲, 乙, 丙, 丁, 戊, 己, 庚=False):
        super().__init__()
        if 丁 % 戊:
            raise ValueError("the heads must divide the width")
        self.heads = 戊
        self.q = nn.Linear(乙, 丁, bias=庚)
        self.k = nn.Linear(甲, 丁, bias=庚)
        self.v = nn.Linear(丙, 丁, bias=庚)
        self.out = nn.Linear(丁, 丁, bias=庚)
        self.drop = nn.Dropout(己)

    def forward(self, queries, keys, values, valid_lens=None):
        q = transpose_qkv(self.q(queries), self.heads)
        k = transpose_qkv(self.k(keys), self.heads)
        v = transpose_qkv(self.v(values), self.heads)
        if k.shape[:2] != v.shape[:2] or q.shape[0] != k.shape[0]:
            raise ValueError("queries, keys and values do not fit")
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.heads, dim=0)
        weights = masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, valid_lens)
        return self.out(transpose_output(self.drop(weights) @ v, self.heads))
