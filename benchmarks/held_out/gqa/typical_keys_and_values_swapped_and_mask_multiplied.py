# problem: gqa
# wrong: (two faults) head = softmax(q k^T) v with blocked keys at weight 0; here k and v change places and a blocked score becomes 0
import torch
from torch import nn


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("not divisible")
        self.nh, self.ng, self.hd = num_heads, num_kv_heads, d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, self.ng * self.hd)
        self.W_v = nn.Linear(d_model, self.ng * self.hd)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, s, e = x.shape
        to_heads = lambda t, n: t.view(b, s, n, self.hd).transpose(1, 2)
        q = to_heads(self.W_q(x), self.nh)
        v = to_heads(self.W_k(x), self.ng).repeat_interleave(self.nh // self.ng, dim=1)
        k = to_heads(self.W_v(x), self.ng).repeat_interleave(self.nh // self.ng, dim=1)
        scores = q @ k.transpose(-1, -2) / self.hd ** 0.5
        if mask is not None:
            scores = scores * mask
        ctx = scores.softmax(dim=-1).to(v.dtype) @ v
        return self.W_o(ctx.transpose(1, 2).reshape(b, s, e))
