# expect: rejected
# problem: gqa
# mistake: a mask of int8 is scaled in its own dtype, where the product overflows
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads or groups do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, self.g * self.d)
        self.v_proj = nn.Linear(embed_dim, self.g * self.d)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        q = self.q_proj(x).unflatten(-1, (self.h, self.d)).transpose(1, 2)
        k, v = (
            one(x)
            .unflatten(-1, (self.g, self.d))
            .transpose(1, 2)
            .repeat_interleave(self.h // self.g, 1)
            for one in (self.k_proj, self.v_proj)
        )
        scores = q @ k.mT / self.d**0.5
        if mask is not None:
            mask = mask.int() if mask.dtype is torch.bool else mask
            scores = scores.masked_fill((1 - mask) * 256 > 0, float("-inf"))
        return self.out_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
