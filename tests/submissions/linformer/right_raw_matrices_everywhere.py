# expect: accepted
# problem: linformer
import math

import torch
from torch import nn


class LinformerSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, seq_len, proj_len):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads = num_heads

        def matrix(rows, columns):
            return nn.Parameter(torch.empty(rows, columns).normal_(std=rows**-0.5))

        self.W_o = matrix(embed_dim, embed_dim)
        self.W_v = matrix(embed_dim, embed_dim)
        self.W_k = matrix(embed_dim, embed_dim)
        self.W_q = matrix(embed_dim, embed_dim)
        self.P_k = matrix(proj_len, seq_len)
        self.P_v = matrix(proj_len, seq_len)
        self.b_o = nn.Parameter(torch.zeros(embed_dim))

    def forward(self, x):
        B, L, E = x.shape
        H, D = self.num_heads, E // self.num_heads
        # W after P: without biases the order does not matter, and fewer rows are multiplied
        k = (self.P_k @ x) @ self.W_k
        v = (self.P_v @ x) @ self.W_v
        q, k, v = (t.reshape(B, -1, H, D).transpose(1, 2) for t in (x @ self.W_q, k, v))
        s = q @ k.mT / math.sqrt(D)
        w = (s - s.logsumexp(-1, keepdim=True)).exp()
        return (w @ v).transpose(1, 2).reshape(B, L, E) @ self.W_o + self.b_o
