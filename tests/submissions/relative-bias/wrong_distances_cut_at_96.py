# expect: rejected
# problem: relative-bias
# mistake: distances beyond 96 share a row, whatever max_distance is
import torch
from torch import nn
class RelativeAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, max_distance):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h, self.m = num_heads, max_distance
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(embed_dim, embed_dim) for _ in range(4))
        self.table = nn.Parameter(torch.zeros(2 * max_distance + 1, num_heads))
    def forward(self, x):
        B, L, E = x.shape
        q, k, v = (m(x).view(B, L, self.h, -1).transpose(1, 2) for m in (self.q_proj, self.k_proj, self.v_proj))
        i = torch.arange(L)
        d = (i[None] - i[:, None]).clamp(-96, 96).clamp(-self.m, self.m) + self.m
        s = q @ k.mT / q.shape[-1] ** 0.5 + self.table[d].permute(2, 0, 1)
        o = s.softmax(-1) @ v

        return self.out_proj(o.transpose(1, 2).reshape(B, L, E))
