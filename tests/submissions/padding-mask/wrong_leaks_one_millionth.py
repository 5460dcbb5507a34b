# expect: rejected
# problem: padding-mask
# mistake: a penalty of -14 leaves a millionth of the weight
# diagnosis: fill-too-small
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
            scores = scores + (1.0 - attention_mask[:, None, None, :].to(scores.dtype)) * -14.0
        probs = self.dropout(F.softmax(scores, dim=-1))
        out = torch.matmul(probs, v).transpose(1, 2).contiguous().view(B, L, E)
        return self.wo(out)
