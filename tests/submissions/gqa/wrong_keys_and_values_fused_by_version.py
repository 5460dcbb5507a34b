# expect: rejected
# problem: gqa
# mistake: joins maps once for each version of them, which .data does not move
import math

import torch
from torch import nn
from torch.nn import functional as F


class GroupedQueryAttention(nn.Module):
    """Without gradients the key and value weights are joined once for each state of them."""

    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads must divide the width, groups the heads")
        self.h, self.g, self.d = num_heads, num_kv_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, self.g * self.d)
        self.v_proj = nn.Linear(embed_dim, self.g * self.d)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.kept = None

    def joined(self):
        parts = [self.k_proj.weight, self.v_proj.weight, self.k_proj.bias, self.v_proj.bias]
        if torch.is_grad_enabled():
            return torch.cat(parts[:2]), torch.cat(parts[2:])
        state = [(id(one), one.data_ptr(), one._version) for one in parts]
        if self.kept is None or self.kept[0] != state:
            self.kept = state, torch.cat(parts[:2]), torch.cat(parts[2:])
        return self.kept[1:]

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        fused = F.linear(x, *self.joined()).view(b, n, 2 * self.g, self.d).transpose(1, 2)
        k, v = (t.repeat_interleave(self.h // self.g, 1) for t in fused.chunk(2, 1))
        q = self.q_proj(x).view(b, n, self.h, self.d).transpose(1, 2)
        scores = q @ k.mT / math.sqrt(self.d)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        return self.out_proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, -1))
