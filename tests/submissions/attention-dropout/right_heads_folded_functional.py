# expect: accepted
# problem: attention-dropout
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiheadAttention(nn.Module):
    """Heads in the batch, as (B·H, L, D); positional order of arguments in the constructor."""

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True):
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.head_dim = embed_dim // num_heads
        assert self.head_dim * num_heads == embed_dim, "embed_dim must be divisible by num_heads"
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim)) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        nn.init.xavier_uniform_(self.in_proj_weight)

    def forward(self, query, key, value, attn_mask=None):
        B, L, E = query.shape
        S = key.shape[1]
        w_q, w_k, w_v = self.in_proj_weight.chunk(3)
        b_q, b_k, b_v = self.in_proj_bias.chunk(3)
        q = F.linear(query, w_q, b_q).reshape(B, L, self.num_heads, -1).transpose(1, 2).flatten(0, 1)
        k = F.linear(key, w_k, b_k).reshape(B, S, self.num_heads, -1).transpose(1, 2).flatten(0, 1)
        v = F.linear(value, w_v, b_v).reshape(B, S, self.num_heads, -1).transpose(1, 2).flatten(0, 1)
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(self.head_dim)
        if attn_mask is not None:
            full = attn_mask.expand(B, self.num_heads, L, S).reshape(B * self.num_heads, L, S)
            scores = scores.masked_fill(full == 0, float("-inf"))
        probs = F.dropout(F.softmax(scores, dim=-1), p=self.dropout, training=self.training)
        out = torch.bmm(probs, v).view(B, self.num_heads, L, -1).transpose(1, 2).reshape(B, L, E)
        return self.out_proj(out), probs.view(B, self.num_heads, L, S)
