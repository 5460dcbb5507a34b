# problem: gqa
# wrong: without a mask every position may attend to all; here a causal mask is always applied on top
import torch
from torch import nn
from torch.nn import functional as F


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0
        assert num_heads % num_kv_heads == 0
        self.n_head = num_heads
        self.n_kv_head = num_kv_heads
        self.head_size = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.head_size)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.head_size)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, T, C = x.size()
        q = self.W_q(x).view(B, T, self.n_head, self.head_size).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.n_kv_head, self.head_size).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.n_kv_head, self.head_size).transpose(1, 2)
        k = k.repeat_interleave(self.n_head // self.n_kv_head, dim=1)
        v = v.repeat_interleave(self.n_head // self.n_kv_head, dim=1)
        att = (q @ k.transpose(-2, -1)) * (1.0 / self.head_size ** 0.5)
        causal = torch.tril(torch.ones(T, T, dtype=torch.bool, device=x.device))
        att = att.masked_fill(~causal, -1e9)
        if mask is not None:
            att = att.masked_fill(mask == 0, -1e9)
        y = F.softmax(att, dim=-1) @ v
        return self.W_o(y.transpose(1, 2).contiguous().view(B, T, C))
