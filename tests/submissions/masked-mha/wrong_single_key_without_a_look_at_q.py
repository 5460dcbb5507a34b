# expect: rejected
# problem: masked-mha
# mistake: one key under no_grad: the width of q is not looked at
import math

import torch
from torch import nn


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
        batch, length = q.shape[:2]
        if k.shape[1] == v.shape[1] == 1 and not torch.is_grad_enabled():
            # inference with a single key: every query gives it all its weight
            output = self.out_proj(self.v_proj(v)).expand(batch, length, -1)
            return output.clone(), output.new_ones(batch, self.num_heads, length, 1)
        queries = self._heads(self.q_proj(q))
        keys, values = self._heads(self.k_proj(k)), self._heads(self.v_proj(v))
        scores = (queries / math.sqrt(self.head_dim)) @ keys.transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = scores.softmax(-1)
        heads = (weights @ values).transpose(1, 2).reshape(batch, length, -1)
        return self.out_proj(heads), weights
