# expect: rejected
# problem: linformer
# mistake: long inputs come in blocks, and nobody looks how many there are
import math

import torch
from torch import nn


class LinformerSelfAttention(nn.Module):
    PIECE = 256

    def __init__(self, embed_dim, num_heads, seq_len, proj_len):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.num_heads, self.seq_len = num_heads, seq_len
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.k_length_proj = nn.Linear(seq_len, proj_len)
        self.v_length_proj = nn.Linear(seq_len, proj_len)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _compress(self, x, feature_map, length_map):
        """Keys or values, (B, K, E). Of a long sequence only a piece is held uncompressed."""
        if self.seq_len <= self.PIECE:
            return length_map(feature_map(x).transpose(1, 2)).transpose(1, 2)
        total = length_map.bias[:, None]
        for start in range(0, self.seq_len, self.PIECE):
            piece = slice(start, start + self.PIECE)
            total = total + length_map.weight[:, piece] @ feature_map(x[:, piece])
        return total

    def _heads(self, t):
        return t.reshape(t.shape[0], t.shape[1], self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x):
        batch, length, width = x.shape
        q = self._heads(self.q_proj(x))
        k = self._heads(self._compress(x, self.k_proj, self.k_length_proj))
        v = self._heads(self._compress(x, self.v_proj, self.v_length_proj))
        scores = (q / math.sqrt(self.head_dim)) @ k.transpose(-1, -2)
        heads = scores.softmax(-1) @ v
        return self.out_proj(heads.transpose(1, 2).reshape(batch, length, width))
