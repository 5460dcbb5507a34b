# expect: accepted
# problem: masked-mha
import torch
from torch import nn


class PrepareForMultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, d_k):
        super().__init__()
        self.linear = nn.Linear(d_model, heads * d_k)
        self.heads = heads
        self.d_k = d_k

    def forward(self, x):
        return self.linear(x).view(*x.shape[:-1], self.heads, self.d_k)


class MultiHeadAttention(nn.Module):
    def __init__(self, heads, d_model, dropout_prob=0.1):
        super().__init__()
        if d_model % heads:
            raise ValueError("heads do not divide d_model")
        self.d_k = d_model // heads
        self.query = PrepareForMultiHeadAttention(d_model, heads, self.d_k)
        self.key = PrepareForMultiHeadAttention(d_model, heads, self.d_k)
        self.value = PrepareForMultiHeadAttention(d_model, heads, self.d_k)
        self.softmax = nn.Softmax(dim=-1)
        self.output = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout_prob)
        self.scale = self.d_k**-0.5

    def forward(self, query, key, value, mask=None):
        query, key, value = self.query(query), self.key(key), self.value(value)
        scores = torch.einsum("bihd,bjhd->bhij", query, key) * self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        attn = self.dropout(self.softmax(scores))
        x = torch.einsum("bhij,bjhd->bihd", attn, value)
        return self.output(x.reshape(x.shape[0], x.shape[1], -1)), attn
