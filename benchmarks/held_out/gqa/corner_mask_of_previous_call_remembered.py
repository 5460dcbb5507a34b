# problem: gqa
# wrong: the answer is the same after other calls; here a call without a mask uses the mask of the call before if the length is the same
# needs: mask
import torch
from torch import nn


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("indivisible")
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = d_model // num_heads
        self.mask = None
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, l, e = x.shape
        if mask is not None:
            self.mask = (mask != 0).expand(b, self.num_heads, l, l)
        elif self.mask is not None and self.mask.shape != (b, self.num_heads, l, l):
            self.mask = None
        q = self.W_q(x).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.W_k(x).view(b, l, self.num_kv_heads, self.head_dim).transpose(1, 2)
        v = self.W_v(x).view(b, l, self.num_kv_heads, self.head_dim).transpose(1, 2)
        k = k.repeat_interleave(self.num_heads // self.num_kv_heads, 1)
        v = v.repeat_interleave(self.num_heads // self.num_kv_heads, 1)
        scores = torch.matmul(q, k.transpose(-1, -2)) / self.head_dim**0.5
        if self.mask is not None:
            scores = scores.masked_fill(~self.mask, -1e9)
        weights = torch.softmax(scores, dim=-1)
        return self.W_o(torch.matmul(weights, v).transpose(1, 2).reshape(b, l, e))
