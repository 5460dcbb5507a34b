# problem: gqa
# wrong: the maps of k and v have G*D outputs; here they have E and every query head has its own keys (multi-head attention)
import torch
from torch import nn

class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0 and num_heads % num_kv_heads == 0
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.d_k = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def split(self, t):
        b, l, e = t.shape
        return t.view(b, l, self.num_heads, self.d_k).transpose(1, 2)

    def forward(self, x, mask=None):
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        s = q @ k.transpose(2, 3) / self.d_k ** 0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        o = s.softmax(-1) @ v
        return self.W_o(o.transpose(1, 2).flatten(2))
