# expect: rejected
# problem: masked-mha
# mistake: the weights are kept in a list, which parameters that are replaced do not reach
import math
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("embed_dim must be a multiple of num_heads")
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.query = nn.Linear(embed_dim, embed_dim)
        self.key = nn.Linear(embed_dim, embed_dim)
        self.value = nn.Linear(embed_dim, embed_dim)
        self.out = nn.Linear(embed_dim, embed_dim)
        self._value = [self.value.weight, self.value.bias]

    @staticmethod
    def _is_causal(mask):
        if mask.dim() != 2 or mask.size(0) != mask.size(1):
            return False
        m = mask != 0
        return bool(m[-1].all() and m[0, 0] and not m[0, 1:].any())

    def forward(self, q, k, v, mask=None):
        if k.size(1) != v.size(1):
            raise ValueError("k and v differ in length")
        b, l, s = q.size(0), q.size(1), k.size(1)
        heads = lambda t, n: t.reshape(b, n, self.num_heads, -1).transpose(1, 2)
        q, k, v = heads(self.query(q), l), heads(self.key(k), s), heads(nn.functional.linear(v, *self._value), s)
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if mask is not None:
            blocked = mask == 0
            scores = scores.masked_fill(blocked, -1e9)
        out = scores.softmax(-1) @ v
        return self.out(out.transpose(1, 2).reshape(b, l, self.embed_dim))
