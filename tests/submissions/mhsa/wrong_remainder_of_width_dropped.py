# expect: rejected
# problem: mhsa
# mistake: 10 features in 3 heads become 9
# diagnosis: heads-not-dividing-accepted
import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, dim, heads=8, dropout=0.0):
        super().__init__()
        dim_head = dim // heads
        inner = dim_head * heads
        self.heads, self.scale = heads, dim_head**-0.5
        self.to_qkv = nn.Linear(dim, inner * 3, bias=False)
        self.to_out = nn.Linear(inner, dim)

    def forward(self, x, mask=None):
        q, k, v = (
            t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for t in self.to_qkv(x).chunk(3, dim=-1)
        )
        dots = torch.matmul(q, k.transpose(-1, -2)) * self.scale
        if mask is not None:
            dots = dots.masked_fill(mask == 0, -torch.inf)
        return self.to_out(torch.matmul(dots.softmax(-1), v).transpose(1, 2).flatten(2))
