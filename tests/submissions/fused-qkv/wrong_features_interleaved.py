# expect: rejected
# problem: fused-qkv
# mistake: the features of each part are dealt to the heads in turn
# diagnosis: features-interleaved
import torch
from einops import rearrange
from torch import nn


class FusedSelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.to_qkv = nn.Linear(dim, 3 * dim)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        q, k, v = rearrange(self.to_qkv(x), "b n (s d h) -> s b h n d", s=3, h=self.heads)
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            dots = dots.masked_fill(mask == 0, -torch.inf)
        out = torch.einsum("bhij,bhjd->bhid", dots.softmax(-1), v)
        return self.to_out(rearrange(out, "b h n d -> b n (d h)"))
