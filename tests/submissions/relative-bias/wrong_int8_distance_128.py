# expect: rejected
# problem: relative-bias
# mistake: the clipped distances are kept as int8 for max_distance up to 128, but int8 ends at 127, so the distance +128 turns into -128
import math

import torch
from torch import nn


class RelativeAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, max_distance):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("num_heads must divide embed_dim")
        self.E, self.H, self.m = embed_dim, num_heads, max_distance
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.table = nn.Parameter(torch.zeros(2 * max_distance + 1, num_heads))
        self._kept = None

    def rows(self, L, device):
        if self._kept is None or self._kept.shape[0] != L or self._kept.device != device:
            i = torch.arange(L, device=device)
            distance = (i[None, :] - i[:, None]).clamp(-self.m, self.m)
            if self.m <= 128:  # an eighth of the memory
                distance = distance.to(torch.int8)
            self._kept = distance
        return self._kept.long() + self.m

    def forward(self, x):
        if x.shape[-1] != self.E:
            raise ValueError("x is not E wide")
        q, k, v = (m(x).unflatten(-1, (self.H, -1)).transpose(1, 2) for m in (self.q_proj, self.k_proj, self.v_proj))
        wide = torch.promote_types(x.dtype, torch.float32)
        bias = self.table.to(wide)[self.rows(x.shape[1], x.device)].permute(2, 0, 1)
        scores = q.to(wide) @ k.to(wide).transpose(-1, -2) / math.sqrt(q.shape[-1]) + bias
        heads = (torch.softmax(scores, -1) @ v.to(wide)).to(x.dtype)
        return self.out_proj(heads.transpose(1, 2).flatten(2))
