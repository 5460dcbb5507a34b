# problem: gqa
# wrong: head h holds features h*D .. h*D+D-1; here feature d*H+h belongs to head h (view as (..., D, H))
import math
import torch
from torch import nn


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError
        self.head_dim = d_model // num_heads
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, self.head_dim * num_kv_heads)
        self.W_v = nn.Linear(d_model, self.head_dim * num_kv_heads)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, L, E = x.shape
        q = self.W_q(x).reshape(B, L, self.head_dim, self.num_heads).permute(0, 3, 1, 2)
        k = self.W_k(x).reshape(B, L, self.head_dim, self.num_kv_heads).permute(0, 3, 1, 2)
        v = self.W_v(x).reshape(B, L, self.head_dim, self.num_kv_heads).permute(0, 3, 1, 2)
        r = self.num_heads // self.num_kv_heads
        k = k.repeat_interleave(r, dim=1)
        v = v.repeat_interleave(r, dim=1)
        s = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        o = s.softmax(-1) @ v                       # (B, H, L, D)
        return self.W_o(o.permute(0, 2, 3, 1).reshape(B, L, E))
