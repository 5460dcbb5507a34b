# expect: rejected
# problem: gqa
# mistake: a mask that is the same for all heads of the first item is taken for one of all items
import math

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        if num_heads % num_kv_heads:
            raise ValueError("num_kv_heads must divide num_heads")
        self.embed_dim, self.num_heads, self.num_kv_heads = embed_dim, num_heads, num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        if x.shape[-1] != self.embed_dim:
            raise ValueError("input must be embed_dim wide")
        batch, length, _ = x.shape
        groups, share = self.num_kv_heads, self.num_heads // self.num_kv_heads
        q = self.q_proj(x).reshape(batch, length, groups, share, self.head_dim).permute(0, 2, 3, 1, 4)
        k = self.k_proj(x).reshape(batch, length, groups, 1, self.head_dim).permute(0, 2, 3, 1, 4)
        v = self.v_proj(x).reshape(batch, length, groups, 1, self.head_dim).permute(0, 2, 3, 1, 4)
        scores = torch.matmul(q / math.sqrt(self.head_dim), k.transpose(-2, -1))  # (B, G, H/G, L, L)
        if mask is not None:
            blocked = mask.to(scores.device) == 0
            if blocked.dim() == 4:
                # Masks are mostly the same for all heads: keep one head, and broadcast it.
                if blocked.shape[1] == 1 or torch.equal(blocked[0, :1].expand_as(blocked[0]), blocked[0]):
                    blocked = blocked[:, :1].unsqueeze(2)
                else:
                    blocked = blocked.unflatten(1, (groups, share))
            scores = scores.masked_fill(blocked, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = torch.matmul(weights, v).permute(0, 3, 1, 2, 4).reshape(batch, length, self.embed_dim)
        return self.out_proj(out)
