# expect: rejected
# problem: fused-qkv
# mistake: scales by the width of the fused features of one head, 3D
import torch
from torch import nn


class FusedSelfAttention(nn.Module):
    def __init__(self, hidden_size, num_heads):
        super().__init__()
        assert hidden_size % num_heads == 0
        self.num_heads = num_heads
        self.query_key_value = nn.Linear(hidden_size, 3 * hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_states, attention_mask=None):
        b, n, e = hidden_states.shape
        qkv = self.query_key_value(hidden_states).view(b, n, self.num_heads, -1).transpose(1, 2)
        scale = qkv.shape[-1] ** 0.5
        q, k, v = qkv.chunk(3, dim=-1)
        s = q @ k.transpose(2, 3) / scale
        if attention_mask is not None:
            s = s.masked_fill(attention_mask == 0, -1e9)
        return self.dense((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, e))
