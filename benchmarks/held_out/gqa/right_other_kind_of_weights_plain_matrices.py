# problem: gqa
# right: no nn.Linear: four nn.Parameter matrices W_q, W_k, W_v, W_o used as x @ W, no biases
# needs: names
import math
import torch
from torch import nn

class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0 and num_heads % num_kv_heads == 0
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.d_head = d_model // num_heads
        kv = num_kv_heads * self.d_head
        self.W_q = nn.Parameter(torch.randn(d_model, d_model) / math.sqrt(d_model))
        self.W_k = nn.Parameter(torch.randn(d_model, kv) / math.sqrt(d_model))
        self.W_v = nn.Parameter(torch.randn(d_model, kv) / math.sqrt(d_model))
        self.W_o = nn.Parameter(torch.randn(d_model, d_model) / math.sqrt(d_model))

    def forward(self, x, mask=None):
        B, L, E = x.shape
        rep = self.num_heads // self.num_kv_heads
        q = (x @ self.W_q).reshape(B, L, self.num_heads, self.d_head).transpose(1, 2)
        k = (x @ self.W_k).reshape(B, L, self.num_kv_heads, self.d_head).transpose(1, 2)
        v = (x @ self.W_v).reshape(B, L, self.num_kv_heads, self.d_head).transpose(1, 2)
        k = k.unsqueeze(2).expand(-1, -1, rep, -1, -1).flatten(1, 2)
        v = v.unsqueeze(2).expand(-1, -1, rep, -1, -1).flatten(1, 2)
        s = q @ k.transpose(2, 3) / math.sqrt(self.d_head)
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        y = s.softmax(dim=-1) @ v
        return y.transpose(1, 2).reshape(B, L, E) @ self.W_o
