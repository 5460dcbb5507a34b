# expect: rejected
# problem: linformer
# mistake: the length is taken for the last axis where it equals the width
import math

import torch
from torch import nn


def compress(x, length_map):
    """Apply a map L -> K along the length of x (B, L, E)."""
    if x.shape[-1] == length_map.in_features == length_map.out_features:
        return length_map(x)  # the length is last already
    return length_map(x.transpose(1, 2)).transpose(1, 2)


class LinformerSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, seq_len, proj_len):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.embed_dim, self.num_heads, self.seq_len = embed_dim, num_heads, seq_len
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.k_length = nn.Linear(seq_len, proj_len)
        self.v_length = nn.Linear(seq_len, proj_len)

    def heads(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.num_heads, -1).transpose(1, 2)

    def forward(self, x):
        if x.shape[1:] != (self.seq_len, self.embed_dim):
            raise ValueError("x must be (B, seq_len, embed_dim)")
        q = self.heads(self.q_proj(x))
        k = self.heads(compress(self.k_proj(x), self.k_length))
        v = self.heads(compress(self.v_proj(x), self.v_length))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        output = scores.softmax(-1) @ v
        return self.out_proj(output.transpose(1, 2).flatten(2))
