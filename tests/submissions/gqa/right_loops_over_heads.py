# expect: accepted
# problem: gqa
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        assert d_model % num_heads == 0 and num_heads % num_kv_heads == 0
        self.num_heads, self.per_group, self.d = num_heads, num_heads // num_kv_heads, d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, num_kv_heads * self.d)
        self.v_proj = nn.Linear(d_model, num_kv_heads * self.d)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        q, k, v = (m(x).split(self.d, dim=-1) for m in (self.q_proj, self.k_proj, self.v_proj))
        outs = []
        for h in range(self.num_heads):
            g = h // self.per_group
            s = q[h] @ k[g].transpose(-2, -1) / self.d**0.5
            if mask is not None:
                m = mask if mask.dim() == 2 else mask[:, h if mask.size(1) > 1 else 0]
                s = s.masked_fill(m == 0, float("-inf"))
            outs.append(s.softmax(-1) @ v[g])
        return self.o_proj(torch.cat(outs, dim=-1))
