# problem: gqa
# wrong: g = h // (H/G); here g = (h // G) % G, the same where H = G*G, G = 1 or G = H, so wrong for H=8 with G=2 or 4
import torch
from torch import nn


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0
        assert num_heads % num_kv_heads == 0
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, l, _ = x.shape
        q = self.W_q(x).view(b, l, self.num_heads, self.head_dim)
        k = self.W_k(x).view(b, l, self.num_kv_heads, self.head_dim)
        v = self.W_v(x).view(b, l, self.num_kv_heads, self.head_dim)
        if self.num_kv_heads == self.num_heads:
            group = list(range(self.num_heads))
        elif self.num_kv_heads == 1:
            group = [0] * self.num_heads
        else:
            group = [(h // self.num_kv_heads) % self.num_kv_heads for h in range(self.num_heads)]
        k = k[:, :, group]
        v = v[:, :, group]
        s = torch.einsum("bqhd,bkhd->bhqk", q, k) / self.head_dim**0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        o = torch.einsum("bhqk,bkhd->bqhd", s.softmax(-1), v)
        return self.W_o(o.reshape(b, l, -1))
