# expect: accepted
# problem: gqa
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, hidden_size, num_attention_heads, num_key_value_heads):
        super().__init__()
        self.h, self.g = num_attention_heads, num_key_value_heads
        self.d, rest = divmod(hidden_size, self.h)
        if rest != 0 or self.h % self.g != 0:
            raise ValueError(f"cannot make {self.h} heads in {self.g} groups of {hidden_size}")
        self.qkv_proj = nn.Linear(hidden_size, (self.h + 2 * self.g) * self.d)
        self.o_proj = nn.Linear(hidden_size, hidden_size)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q, k, v = self.qkv_proj(x).split([e, self.g * self.d, self.g * self.d], dim=-1)
        q = q.reshape(b, n, self.g, self.h // self.g, self.d).permute(0, 2, 3, 1, 4)
        k = k.reshape(b, n, self.g, 1, self.d).permute(0, 2, 3, 1, 4)
        v = v.reshape(b, n, self.g, 1, self.d).permute(0, 2, 3, 1, 4)
        s = (q * self.d**-0.5) @ k.mT
        s = s.flatten(1, 2)
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        w = s.softmax(-1)
        o = w.unflatten(1, (self.g, -1)) @ v
        return self.o_proj(o.flatten(1, 2).transpose(1, 2).reshape(b, n, e)), w
