# problem: gqa
# wrong: inputs are not changed in place; here a mask that already has the dtype of the scores is turned into a bias in place
# needs: mask
import torch
from torch import nn


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model")
        if num_heads % num_kv_heads != 0:
            raise ValueError("num_heads")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.size = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.size)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.size)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, l, e = x.shape
        q = self.W_q(x).view(b, l, self.num_heads, self.size).transpose(1, 2)
        k = self.W_k(x).view(b, l, self.num_kv_heads, self.size).transpose(1, 2)
        v = self.W_v(x).view(b, l, self.num_kv_heads, self.size).transpose(1, 2)
        k = k.repeat_interleave(self.num_heads // self.num_kv_heads, dim=1)
        v = v.repeat_interleave(self.num_heads // self.num_kv_heads, dim=1)
        scores = q @ k.transpose(-1, -2) / self.size**0.5
        if mask is not None:
            bias = mask.to(scores.dtype)
            bias -= 1.0
            bias *= 1e9          # 1 -> 0, 0 -> -1e9
            scores = scores + bias
        return self.W_o((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, l, e))
