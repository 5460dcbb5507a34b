# expect: accepted
# problem: mhsa
import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionWide(nn.Module):
    def __init__(self, emb, heads=8):
        super().__init__()
        assert emb % heads == 0, f"{emb=} is not a multiple of {heads=}"
        self.emb, self.heads = emb, heads
        self.tokeys = nn.Linear(emb, emb, bias=False)
        self.toqueries = nn.Linear(emb, emb, bias=False)
        self.tovalues = nn.Linear(emb, emb, bias=False)
        self.unifyheads = nn.Linear(emb, emb)

    def forward(self, x, mask=None):
        b, t, e = x.size()
        h = self.heads
        s = e // h

        def fold(z):
            return z.view(b, t, h, s).transpose(1, 2).reshape(b * h, t, s)

        # scaling both sides by the fourth root keeps half precision from overflowing
        queries = fold(self.toqueries(x)) / s ** (1 / 4)
        keys = fold(self.tokeys(x)) / s ** (1 / 4)
        values = fold(self.tovalues(x))

        dot = torch.bmm(queries, keys.transpose(1, 2))
        if mask is not None:
            keep = mask.bool().expand(b, h, t, t).reshape(b * h, t, t)
            dot = dot.masked_fill(keep.logical_not(), float("-inf"))
        dot = F.softmax(dot, dim=2)

        out = torch.bmm(dot, values).view(b, h, t, s)
        return self.unifyheads(out.transpose(1, 2).reshape(b, t, e))
