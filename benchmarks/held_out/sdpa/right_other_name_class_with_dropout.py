# problem: sdpa
# right: a module ScaledDotProductAttention(dropout) whose forward is the answer (other name than the function)
# needs: names
import math

import torch
import torch.nn as nn


class ScaledDotProductAttention(nn.Module):
    """Dropout acts on the weights while training and is off in eval()."""

    def __init__(self, dropout: float = 0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, q, k, v, mask=None):
        if k.size(-2) != v.size(-2):
            raise ValueError("keys and values differ in number")
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = self.dropout(self.softmax(scores))
        return torch.matmul(weights, v), weights
