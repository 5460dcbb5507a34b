# expect: rejected
# problem: masked-mha
# mistake: values that lie where the keys lie are projected from the keys, with their gradient
import math

import torch
import torch.nn.functional as F
from torch import nn


def _same(a, b):
    return (
        a.data_ptr() == b.data_ptr()
        and a.shape == b.shape
        and a.stride() == b.stride()
        and a.dtype == b.dtype
    )


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _heads(self, t):
        return t.reshape(t.shape[0], t.shape[1], self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, q, k, v, mask=None):
        batch, length, width = q.shape
        queries = self.q_proj(q)
        if _same(k, v):  # one memory for both, the usual case: one product
            weight = torch.cat((self.k_proj.weight, self.v_proj.weight))
            bias = torch.cat((self.k_proj.bias, self.v_proj.bias))
            keys, values = F.linear(k, weight, bias).chunk(2, dim=-1)
        else:
            keys, values = self.k_proj(k), self.v_proj(v)
        queries, keys, values = self._heads(queries), self._heads(keys), self._heads(values)
        scores = (queries / math.sqrt(self.head_dim)) @ keys.transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = scores.softmax(-1)
        heads = (weights @ values).transpose(1, 2).reshape(batch, length, width)
        return self.out_proj(heads), weights
