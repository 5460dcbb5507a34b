# expect: rejected
# problem: mqa
# mistake: (B, H, L, D) @ (B, D, L) only fits a batch of one
# diagnosis: keys-without-head-axis
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiQueryAttention(nn.Module):
    def __init__(self, hidden_size, num_heads):
        super().__init__()
        assert hidden_size % num_heads == 0
        self.num_heads = num_heads
        self.head_dim = hidden_size // num_heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, self.head_dim)
        self.value = nn.Linear(hidden_size, self.head_dim)
        self.out = nn.Linear(hidden_size, hidden_size)

    def forward(self, x, mask=None):
        B, L, E = x.shape
        q = self.query(x).view(B, L, self.num_heads, self.head_dim).permute(0, 2, 1, 3)
        scores = torch.matmul(q, self.key(x).transpose(-1, -2)) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        out = torch.matmul(F.softmax(scores, dim=-1), self.value(x))
        return self.out(out.permute(0, 2, 1, 3).reshape(B, L, E))
