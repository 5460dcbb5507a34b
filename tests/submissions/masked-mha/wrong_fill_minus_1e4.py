# expect: rejected
# problem: masked-mha
# mistake: blocked scores get -10000, as was usual in half precision; a question beyond the checks
#          has scores that lie lower
# diagnosis: fill-too-small
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.heads = num_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.dense = nn.Linear(d_model, d_model)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        q = self.split(self.query(query))
        k = self.split(self.key(key))
        v = self.split(self.value(value))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -10000.0)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).flatten(-2)
        return self.dense(out), weights
