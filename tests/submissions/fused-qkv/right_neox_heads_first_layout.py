# expect: accepted
# problem: fused-qkv
import math

import torch
from torch import nn


class FusedSelfAttention(nn.Module):
    """(H, 3, D): the features of one head stand together."""

    def __init__(self, hidden_size, num_attention_heads):
        super().__init__()
        if hidden_size % num_attention_heads:
            raise ValueError("The hidden size is not divisible by the number of attention heads!")
        self.num_attention_heads = num_attention_heads
        self.head_size = hidden_size // num_attention_heads
        self.query_key_value = nn.Linear(hidden_size, 3 * hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_states, attention_mask=None):
        qkv = self.query_key_value(hidden_states)
        qkv = qkv.view(*qkv.size()[:-1], self.num_attention_heads, 3 * self.head_size)
        query = qkv[..., : self.head_size].permute(0, 2, 1, 3)
        key = qkv[..., self.head_size : 2 * self.head_size].permute(0, 2, 1, 3)
        value = qkv[..., 2 * self.head_size :].permute(0, 2, 1, 3)
        scores = torch.baddbmm(
            torch.zeros(1, dtype=query.dtype),
            query.flatten(0, 1),
            key.flatten(0, 1).transpose(1, 2),
            beta=0.0,
            alpha=1 / math.sqrt(self.head_size),
        ).view(*query.shape[:3], -1)
        if attention_mask is not None:
            scores = scores.masked_fill(attention_mask == 0, torch.finfo(scores.dtype).min)
        weights = nn.functional.softmax(scores, dim=-1).to(value.dtype)
        out = torch.matmul(weights, value).permute(0, 2, 1, 3).reshape(hidden_states.shape)
        return self.dense(out), weights
