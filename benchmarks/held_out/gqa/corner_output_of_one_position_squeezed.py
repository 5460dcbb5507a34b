# problem: gqa
# wrong: the output is (B, L, E); here L = 1 gives (B, E)
import torch
import torch.nn as nn

class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0 and num_heads % num_kv_heads == 0
        self.heads, self.kv_heads, self.dim = num_heads, num_kv_heads, d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.dim)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.dim)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        q = q.unflatten(-1, (self.heads, self.dim)).transpose(1, 2)
        k = k.unflatten(-1, (self.kv_heads, self.dim)).transpose(1, 2)
        v = v.unflatten(-1, (self.kv_heads, self.dim)).transpose(1, 2)
        r = self.heads // self.kv_heads
        k = k.repeat_interleave(r, dim=1); v = v.repeat_interleave(r, dim=1)
        s = q @ k.transpose(-2, -1) / self.dim ** .5
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        o = torch.softmax(s, dim=-1) @ v
        o = self.W_o(o.transpose(1, 2).flatten(2))
        return o.squeeze(1)
