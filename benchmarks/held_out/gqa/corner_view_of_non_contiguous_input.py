# problem: gqa
# wrong: the answer is the same on input transposed in memory or sliced; here x.view raises on it
import torch
from torch import nn


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0
        assert num_heads % num_kv_heads == 0
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.d_head = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d_head)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d_head)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, L, E = x.shape
        tokens = x.view(B * L, E)
        q = self.W_q(tokens).view(B, L, self.num_heads, self.d_head).transpose(1, 2)
        k = self.W_k(tokens).view(B, L, self.num_kv_heads, self.d_head).transpose(1, 2)
        v = self.W_v(tokens).view(B, L, self.num_kv_heads, self.d_head).transpose(1, 2)
        rep = self.num_heads // self.num_kv_heads
        k, v = k.repeat_interleave(rep, 1), v.repeat_interleave(rep, 1)
        s = q @ k.transpose(-2, -1) / (self.d_head**0.5)
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        o = s.softmax(-1) @ v
        return self.W_o(o.transpose(1, 2).reshape(B * L, E)).view(B, L, E)
