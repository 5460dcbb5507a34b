# expect: rejected
# problem: mqa
# mistake: folded as (L, H), unfolded as (H, L)
import torch
from torch import nn


class MultiQueryAttention(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        assert n_embd % n_head == 0
        self.h, self.d = n_head, n_embd // n_head
        self.c_attn = nn.Linear(n_embd, n_embd + 2 * self.d)
        self.c_proj = nn.Linear(n_embd, n_embd)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q, k, v = self.c_attn(x).split([e, self.d, self.d], dim=-1)
        w = torch.bmm(q.reshape(b, n * self.h, self.d), k.transpose(1, 2)) / self.d**0.5
        w = w.view(b, self.h, n, n)
        if mask is not None:
            w = w.masked_fill(mask == 0, -1e9)
        w = w.softmax(-1).view(b, self.h * n, n)
        return self.c_proj(torch.bmm(w, v).view(b, self.h, n, -1).transpose(1, 2).reshape(b, n, e))
