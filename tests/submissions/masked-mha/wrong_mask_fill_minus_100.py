# expect: rejected
# problem: masked-mha
# mistake: Blocked scores are set to −100, which is not far below large scores
# diagnosis: fill-too-small
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError("the heads do not divide the width")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, q, k, v, mask=None):
        self._check(q, k, v)
        q = self._split(self.q_proj(q))
        k = self._split(self.k_proj(k))
        v = self._split(self.v_proj(v))

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill((mask == 0).expand_as(scores), -100.0)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v
        output = self.out_proj(heads.transpose(1, 2).flatten(2))
        return output, weights

    def _split(self, x):
        x = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)
        return x.transpose(1, 2)

    def _check(self, q, k, v):
        for name, x in {"q": q, "k": k, "v": v}.items():
            if x.ndim != 3 or x.shape[-1] != self.embed_dim:
                raise ValueError(f"{name} is not (batch, length, width)")
        if not q.shape[0] == k.shape[0] == v.shape[0]:
            raise ValueError("batch sizes differ")
        if k.shape[1] != v.shape[1]:
            raise ValueError("k and v differ in length")
