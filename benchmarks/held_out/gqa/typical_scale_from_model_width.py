# problem: gqa
# wrong: the scale is the root of D = E/H; here it is the root of E, so wrong for every H > 1
import math
import torch
from torch import nn


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads")
        self.d_model = d_model
        self.h = num_heads
        self.kv = num_kv_heads
        self.dk = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, self.kv * self.dk)
        self.W_v = nn.Linear(d_model, self.kv * self.dk)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, L, _ = x.shape
        q = self.W_q(x).reshape(B, L, self.kv, self.h // self.kv, self.dk)
        k = self.W_k(x).reshape(B, L, self.kv, self.dk)
        v = self.W_v(x).reshape(B, L, self.kv, self.dk)
        s = torch.einsum("bqgrd,bkgd->bgrqk", q, k).reshape(B, self.h, L, L) / math.sqrt(self.d_model)
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        p = torch.softmax(s, -1).reshape(B, self.kv, -1, L, L)
        o = torch.einsum("bgrqk,bkgd->bqgrd", p, v).reshape(B, L, self.d_model)
        return self.W_o(o)
