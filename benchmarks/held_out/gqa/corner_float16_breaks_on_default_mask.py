# problem: gqa
# wrong: float16 without a mask is graded; here a missing mask becomes all ones and the fill of -1e9 raises in float16
import math
import torch
from torch import nn


class GroupQueryAttention(nn.Module):
    NEG = -1e9

    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(d_model)
        if num_heads % num_kv_heads:
            raise ValueError(num_kv_heads)
        self.nq, self.nkv = num_heads, num_kv_heads
        self.dh = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.dh)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.dh)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        n, t, e = x.shape
        if mask is None:
            mask = torch.ones(t, t, device=x.device)
        q = self.W_q(x).reshape(n, t, self.nq, self.dh).transpose(1, 2)
        k = self.W_k(x).reshape(n, t, self.nkv, self.dh).transpose(1, 2)
        v = self.W_v(x).reshape(n, t, self.nkv, self.dh).transpose(1, 2)
        k = k.repeat_interleave(self.nq // self.nkv, dim=1)
        v = v.repeat_interleave(self.nq // self.nkv, dim=1)
        a = q.div(math.sqrt(self.dh)).matmul(k.transpose(-2, -1))
        a = a.masked_fill(mask.eq(0), self.NEG).softmax(-1)
        return self.W_o(a.matmul(v).transpose(1, 2).reshape(n, t, e))
