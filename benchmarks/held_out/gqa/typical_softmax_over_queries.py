# problem: gqa
# wrong: the softmax runs over the keys; here over the queries
import torch
from torch import nn

class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0 and num_heads % num_kv_heads == 0
        self.hd = d_model // num_heads
        self.nh, self.nkv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.hd)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.hd)
        self.W_o = nn.Linear(d_model, d_model)
        self.softmax = nn.Softmax(dim=-2)

    def forward(self, x, mask=None):
        b, t, c = x.shape
        q = self.W_q(x).unflatten(2, (self.nh, self.hd)).transpose(1, 2)
        k = self.W_k(x).unflatten(2, (self.nkv, self.hd)).transpose(1, 2)
        v = self.W_v(x).unflatten(2, (self.nkv, self.hd)).transpose(1, 2)
        k, v = (z[:, :, None].expand(-1, -1, self.nh // self.nkv, -1, -1).flatten(1, 2) for z in (k, v))
        att = q @ k.mT / self.hd ** 0.5
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e9)
        y = self.softmax(att) @ v
        return self.W_o(y.transpose(1, 2).flatten(2))
