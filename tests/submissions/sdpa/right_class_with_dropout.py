# expect: accepted
# problem: sdpa
import math
import torch
from torch import nn


class DotProductAttention(nn.Module):
    def __init__(self, dropout, **kwargs):
        super(DotProductAttention, self).__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, mask=None):
        d = queries.shape[-1]
        scores = torch.matmul(queries, keys.transpose(-2, -1)) / math.sqrt(d)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e6)
        self.attention_weights = nn.functional.softmax(scores, dim=-1)
        return torch.matmul(self.dropout(self.attention_weights), values), self.attention_weights
