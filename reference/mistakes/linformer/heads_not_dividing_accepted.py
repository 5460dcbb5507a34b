import math

import torch
from torch import nn


class LinformerSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, seq_len, proj_len):
        super().__init__()
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.k_length_proj = nn.Linear(seq_len, proj_len)
        self.v_length_proj = nn.Linear(seq_len, proj_len)
        self.out_proj = nn.Linear(num_heads * self.head_dim, embed_dim)

    def forward(self, x):
        if x.ndim != 3 or x.shape[-1] != self.embed_dim:
            raise ValueError("the sizes do not fit")
        k = self.k_length_proj(self.k_proj(x).transpose(1, 2))
        v = self.v_length_proj(self.v_proj(x).transpose(1, 2))
        q = self._split(self.q_proj(x))
        k = self._split(k.transpose(1, 2))
        v = self._split(v.transpose(1, 2))

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        weights = torch.softmax(scores, dim=-1)

        heads = weights @ v
        merged = heads.transpose(1, 2).flatten(2)
        return self.out_proj(merged)

    def _split(self, x):
        x = x[..., : self.num_heads * self.head_dim].reshape(
            *x.shape[:2], self.num_heads, self.head_dim
        )
        return x.transpose(1, 2)
