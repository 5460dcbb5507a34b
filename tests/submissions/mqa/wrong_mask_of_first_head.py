# expect: rejected
# problem: mqa
# mistake: one key head, so one mask
# diagnosis: mask-of-first-head
import torch
from torch import nn


class MultiQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h, self.d = num_heads, embed_dim // num_heads
        self.wq = nn.Linear(embed_dim, embed_dim)
        self.wk = nn.Linear(embed_dim, self.d)
        self.wv = nn.Linear(embed_dim, self.d)
        self.wo = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        q = self.wq(x).unflatten(-1, (self.h, self.d))
        s = torch.einsum("blhd,bsd->blhs", q, self.wk(x)) / self.d**0.5
        if mask is not None:
            mask = mask[:, 0] if mask.dim() == 4 else mask
            s = s.masked_fill(mask.unsqueeze(-2) == 0, -torch.inf)
        return self.wo(torch.einsum("blhs,bsd->blhd", s.softmax(-1), self.wv(x)).flatten(2))
