# problem: gqa
# wrong: every query head has its own softmax; here the query heads of a group are averaged and share one result, so wrong for every G < H
import torch
from torch import nn


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0
        assert num_heads % num_kv_heads == 0
        self.H, self.G = num_heads, num_kv_heads
        self.D = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, self.G * self.D)
        self.W_v = nn.Linear(d_model, self.G * self.D)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, L, E = x.shape
        R = self.H // self.G
        # one query per group
        q = self.W_q(x).view(B, L, self.G, R, self.D).mean(dim=3).transpose(1, 2)
        k = self.W_k(x).view(B, L, self.G, self.D).transpose(1, 2)
        v = self.W_v(x).view(B, L, self.G, self.D).transpose(1, 2)
        s = q @ k.transpose(-1, -2) / self.D ** 0.5
        s = s.repeat_interleave(R, dim=1)
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        o = s.softmax(dim=-1) @ v.repeat_interleave(R, dim=1)
        return self.W_o(o.transpose(1, 2).reshape(B, L, E))
