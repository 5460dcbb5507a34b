# expect: accepted
# problem: fused-qkv
import torch
from torch import nn


class FusedSelfAttention(nn.Module):
    """One plain matrix, used as x @ W, with values, keys, queries in this order."""

    def __init__(self, width, heads):
        super().__init__()
        if width % heads:
            raise ValueError("heads must divide width")
        self.heads, self.size = heads, width // heads
        self.w_qkv = nn.Parameter(torch.randn(width, 3 * width) / width**0.5)
        self.w_o = nn.Parameter(torch.randn(width, width) / width**0.5)

    def forward(self, x, mask=None):
        v, k, q = ((x @ self.w_qkv).unflatten(-1, (3, self.heads, self.size))).unbind(2)
        s = torch.einsum("blhd,bshd->bhls", q, k) / self.size**0.5
        if mask is not None:
            s = s + torch.zeros_like(s).masked_fill(mask == 0, -torch.inf)
        w = torch.exp(s - torch.logsumexp(s, dim=-1, keepdim=True))
        return torch.einsum("bhls,bshd->blhd", w, v).flatten(2) @ self.w_o
