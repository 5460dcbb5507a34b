# expect: rejected
# problem: fused-qkv
# mistake: reshape(B, 3, L, H, D), then the heads moved
# diagnosis: parts-before-positions
import torch
from einops import rearrange
from torch import nn


class FusedSelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.to_out = nn.Linear(dim, dim, bias=False)

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        qkv = self.to_qkv(x).reshape(b, 3, n, self.heads, -1)
        q, k, v = rearrange(qkv, "b s n h d -> s b h n d")
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            dots = dots.masked_fill(mask == 0, -torch.inf)
        out = torch.einsum("bhij,bhjd->bhid", dots.softmax(-1), v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))
