# expect: rejected
# problem: fused-qkv
# mistake: heads are worked off 32 at a time, and a single one that is left stays zero
import math

import torch
from torch import nn

GROUP = 32


class FusedSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        B, L, E = x.shape
        H, D = self.num_heads, self.head_dim
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (t.reshape(B, L, H, D).transpose(1, 2) for t in (q, k, v))
        parts = []
        done = 0
        for first in range(0, max(H - 1, 1), GROUP):
            last = min(first + GROUP, H)
            s = q[:, first:last] @ k[:, first:last].transpose(-1, -2) / math.sqrt(D)
            if mask is not None:
                m = mask
                if m.dim() == 4 and m.shape[1] == H and H > 1:
                    m = m[:, first:last]
                s = s.masked_fill(m == 0, -1e9)
            parts.append(torch.softmax(s, -1) @ v[:, first:last])
            done = last
        if done < H:
            parts.append(torch.zeros_like(q[:, done:]))
        y = parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)
        return self.out_proj(y.transpose(1, 2).reshape(B, L, E))
