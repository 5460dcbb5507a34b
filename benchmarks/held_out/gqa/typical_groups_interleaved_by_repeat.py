# problem: gqa
# wrong: with H=4, G=2 the key heads go 0 0 1 1; here .repeat makes them 0 1 0 1
import torch
import torch.nn as nn
import torch.nn.functional as F


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        assert d_model % num_heads == 0, "d_model % num_heads != 0"
        assert num_heads % num_kv_heads == 0, "num_heads % num_kv_heads != 0"
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.d_k = d_model // num_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d_k)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d_k)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d_k)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, S, D = x.shape
        q = self.W_q(x).view(B, S, self.num_heads, self.d_k).transpose(1, 2)
        k = self.W_k(x).view(B, S, self.num_kv_heads, self.d_k).transpose(1, 2)
        v = self.W_v(x).view(B, S, self.num_kv_heads, self.d_k).transpose(1, 2)
        n = self.num_heads // self.num_kv_heads
        k, v = k.repeat(1, n, 1, 1), v.repeat(1, n, 1, 1)
        scores = q @ k.transpose(-2, -1) * self.d_k ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        return self.W_o((F.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(B, S, D))
