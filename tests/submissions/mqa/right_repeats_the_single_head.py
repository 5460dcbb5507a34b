# expect: accepted
# problem: mqa
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiQueryAttention(nn.Module):
    """Repeats the one head, which costs memory, and is right."""

    def __init__(self, num_heads, hidden_size, dropout=0.1, bias=True):
        super().__init__()
        if hidden_size % num_heads != 0:
            raise ValueError("hidden_size must be a multiple of num_heads")
        self.num_heads = num_heads
        self.num_key_value_heads = 1
        self.head_dim = hidden_size // num_heads
        self.q_proj = nn.Linear(hidden_size, num_heads * self.head_dim, bias=bias)
        self.k_proj = nn.Linear(hidden_size, self.num_key_value_heads * self.head_dim, bias=bias)
        self.v_proj = nn.Linear(hidden_size, self.num_key_value_heads * self.head_dim, bias=bias)
        self.o_proj = nn.Linear(num_heads * self.head_dim, hidden_size, bias=bias)
        self.dropout = dropout

    def forward(self, hidden_states, attention_mask=None):
        b, n, _ = hidden_states.size()
        q = self.q_proj(hidden_states).view(b, n, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(hidden_states).view(b, n, 1, self.head_dim).transpose(1, 2)
        v = self.v_proj(hidden_states).view(b, n, 1, self.head_dim).transpose(1, 2)
        k = k.repeat_interleave(self.num_heads, dim=1)
        v = v.repeat_interleave(self.num_heads, dim=1)
        w = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.head_dim)
        if attention_mask is not None:
            w = w.masked_fill(attention_mask == 0, torch.finfo(w.dtype).min)
        w = F.softmax(w, dim=-1, dtype=torch.promote_types(w.dtype, torch.float32)).to(q.dtype)
        w = F.dropout(w, p=self.dropout, training=self.training)
        out = torch.matmul(w, v).transpose(1, 2).contiguous().reshape(b, n, -1)
        return self.o_proj(out), w
