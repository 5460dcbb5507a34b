# expect: rejected
# problem: talking-heads
# mistake: with the heads last, the softmax takes the last axis
# diagnosis: softmax-over-heads
import torch
from torch import nn


class TalkingHeadsAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h = num_heads
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(embed_dim, embed_dim) for _ in range(3))
        self.p_l = nn.Linear(num_heads, num_heads, bias=False)
        self.p_w = nn.Linear(num_heads, num_heads, bias=False)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        q, k, v = (m(x).unflatten(-1, (self.h, -1)) for m in (self.q_proj, self.k_proj, self.v_proj))
        s = self.p_l(torch.einsum("bihd,bjhd->bijh", q, k) / q.shape[-1] ** 0.5)
        if mask is not None:
            mask = mask.expand(x.shape[0], self.h, *s.shape[1:3]).permute(0, 2, 3, 1)
            s = s.masked_fill(mask == 0, -torch.inf)
        w = self.p_w(torch.softmax(s, dim=-1))
        return self.out_proj(torch.einsum("bijh,bjhd->bihd", w, v).flatten(2))
