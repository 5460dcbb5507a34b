# problem: gqa
# wrong: inputs of up to 1 250 positions are graded; here a buffer of 1024 positions, combined with the mask, ends the call beyond that
import math

import torch
from torch import Tensor, nn


class GroupQueryAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int, max_len: int = 1024):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        if num_heads % num_kv_heads:
            raise ValueError("num_kv_heads must divide num_heads")
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.W_o = nn.Linear(d_model, d_model)
        self.register_buffer("visible", torch.ones(max_len, max_len, dtype=torch.bool), persistent=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        b, l, _ = x.shape
        q = self.W_q(x).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.W_k(x).view(b, l, self.num_kv_heads, self.head_dim).transpose(1, 2)
        v = self.W_v(x).view(b, l, self.num_kv_heads, self.head_dim).transpose(1, 2)
        repeats = self.num_heads // self.num_kv_heads
        scores = q @ k.repeat_interleave(repeats, dim=1).transpose(-2, -1) / math.sqrt(self.head_dim)
        visible = self.visible[:l, :l]
        if mask is not None:
            visible = visible & mask.bool()
        scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
        heads = scores.softmax(dim=-1) @ v.repeat_interleave(repeats, dim=1)
        return self.W_o(heads.transpose(1, 2).flatten(-2))
