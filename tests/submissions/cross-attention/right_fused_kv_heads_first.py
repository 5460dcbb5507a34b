# expect: accepted
# problem: cross-attention
import math
from typing import Optional

import torch
from torch import Tensor, nn


class MultiHeadCrossAttention(nn.Module):
    """One map for keys and values, as decoders have it that keep both for later steps."""

    def __init__(self, num_heads: int, d_model: int, d_context: int, bias: bool = True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model={d_model} is not divisible by num_heads={num_heads}")
        self.num_heads = num_heads
        self.wq = nn.Linear(d_model, d_model, bias=bias)
        self.wkv = nn.Linear(d_context, 2 * d_model, bias=bias)
        self.wo = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, memory: Tensor, memory_mask: Optional[Tensor] = None):
        b, l, e = x.shape
        s = memory.size(1)
        d = e // self.num_heads
        if memory.size(0) != b:
            raise ValueError("x and memory hold different numbers of items")
        q = self.wq(x).view(b, l, self.num_heads, d)
        k, v = self.wkv(memory).view(b, s, 2, self.num_heads, d).unbind(dim=2)
        energy = torch.einsum("blhd,bshd->bhls", q, k).div(math.sqrt(d))
        if memory_mask is not None:
            bias = torch.zeros(b, s, dtype=x.dtype).masked_fill(memory_mask == 0, float("-inf"))
            energy = energy + bias.view(b, 1, 1, s)
        attention = energy.softmax(-1)
        out = torch.einsum("bhls,bshd->blhd", attention, v).reshape(b, l, e)
        return self.wo(out), attention
