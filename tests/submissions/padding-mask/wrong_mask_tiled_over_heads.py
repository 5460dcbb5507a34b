# expect: rejected
# problem: padding-mask
# mistake: repeat instead of repeat_interleave
# diagnosis: items-and-heads-mixed
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, hidden_size, num_heads, dropout=0.0):
        super().__init__()
        assert hidden_size % num_heads == 0
        self.num_heads = num_heads
        self.head_dim = hidden_size // num_heads
        self.wq = nn.Linear(hidden_size, hidden_size)
        self.wk = nn.Linear(hidden_size, hidden_size)
        self.wv = nn.Linear(hidden_size, hidden_size)
        self.wo = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(dropout)

    def shape(self, x):
        return x.view(x.size(0), x.size(1), self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, hidden_state, attention_mask=None):
        B, L, E = hidden_state.shape
        q = self.shape(self.wq(hidden_state))
        k = self.shape(self.wk(hidden_state))
        v = self.shape(self.wv(hidden_state))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head_dim)
        if attention_mask is not None:
            m = attention_mask.repeat(self.num_heads, 1).view(B, self.num_heads, 1, L)
            scores = scores.masked_fill(m == 0, float("-inf"))
        probs = self.dropout(F.softmax(scores, dim=-1))
        out = torch.matmul(probs, v).transpose(1, 2).contiguous().view(B, L, E)
        return self.wo(out)
