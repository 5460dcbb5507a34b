# expect: accepted
# problem: relative-bias
import math

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.query = nn.Linear(d_model, d_head)
        self.key = nn.Linear(d_model, d_head)
        self.value = nn.Linear(d_model, d_head)

    def forward(self, x, bias):
        q, k, v = self.query(x), self.key(x), self.value(x)
        att = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)) + bias
        return torch.softmax(att, dim=-1) @ v


class RelativeAttention(nn.Module):
    def __init__(self, d_model, num_heads, max_distance):
        super().__init__()
        assert d_model % num_heads == 0
        self.d_model = d_model
        self.heads = nn.ModuleList(Head(d_model, d_model // num_heads) for _ in range(num_heads))
        self.proj = nn.Linear(d_model, d_model)
        self.pos_bias = nn.Parameter(torch.zeros(2 * max_distance + 1, num_heads))

    def forward(self, x):
        n, rows = x.size(1), self.pos_bias.size(0)
        at = torch.arange(n, device=x.device)
        index = (at - at[:, None] + rows // 2).clamp(0, rows - 1)
        bias = torch.index_select(self.pos_bias, 0, index.flatten()).view(n, n, -1)
        return self.proj(torch.cat([h(x, bias[..., i]) for i, h in enumerate(self.heads)], dim=-1))
