# problem: gqa
# wrong: the heads are concatenated along the features; here (B, H, L, D) is reshaped to (B, L, E) at once
import torch
from torch import nn, einsum

class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads: raise ValueError('d_model')
        if num_heads % num_kv_heads: raise ValueError('num_kv_heads')
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q = self.W_q(x).reshape(b, n, self.h, self.d).transpose(1, 2)
        k = self.W_k(x).reshape(b, n, self.g, self.d).transpose(1, 2).repeat_interleave(self.h // self.g, 1)
        v = self.W_v(x).reshape(b, n, self.g, self.d).transpose(1, 2).repeat_interleave(self.h // self.g, 1)
        sim = einsum('bhid,bhjd->bhij', q, k) * self.d ** -0.5
        if mask is not None:
            sim = sim.masked_fill(mask == 0, -1e9)
        o = einsum('bhij,bhjd->bhid', sim.softmax(-1), v)
        return self.W_o(o.reshape(b, n, e))
