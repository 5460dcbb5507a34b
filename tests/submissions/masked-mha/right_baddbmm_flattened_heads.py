# expect: accepted
# problem: masked-mha
import math
import torch
from torch import nn


class MultiheadAttention(nn.Module):
    """Heads folded into the batch, scores and bias in one baddbmm."""

    def __init__(self, embed_dim, num_heads, bias=True):
        super(MultiheadAttention, self).__init__()
        self.head_dim = embed_dim // num_heads
        assert self.head_dim * num_heads == embed_dim, "embed_dim must be divisible by num_heads"
        self.num_heads = num_heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim)) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        nn.init.xavier_uniform_(self.in_proj_weight)

    def _fold(self, x, i):
        E = x.shape[-1]
        x = nn.functional.linear(x, self.in_proj_weight[i * E : (i + 1) * E])
        if self.in_proj_bias is not None:
            x = x + self.in_proj_bias[i * E : (i + 1) * E]
        b, n, _ = x.shape
        return x.view(b, n, self.num_heads, self.head_dim).transpose(1, 2).reshape(b * self.num_heads, n, -1)

    def forward(self, query, key, value, attn_mask=None):
        b, l, e = query.shape
        s = key.shape[1]
        if value.shape[1] != s:
            raise RuntimeError("key and value lengths differ")
        q, k, v = self._fold(query, 0), self._fold(key, 1), self._fold(value, 2)
        bias = q.new_zeros(b, self.num_heads, l, s)
        if attn_mask is not None:
            bias.masked_fill_(attn_mask == 0, float("-inf"))
        scores = torch.baddbmm(bias.flatten(0, 1), q, k.mT, alpha=1 / math.sqrt(self.head_dim))
        weights = scores.softmax(-1)
        out = torch.bmm(weights, v).view(b, self.num_heads, l, self.head_dim)
        return self.out_proj(out.permute(0, 2, 1, 3).reshape(b, l, e)), weights.view(b, -1, l, s)
