# expect: rejected
# problem: fused-qkv
# mistake: three products by slices, and attention written without any product
# diagnosis: three-products
import torch
from torch import nn


class FusedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q, k, v = (
            nn.functional.linear(x, w, c).view(b, n, self.h, -1).transpose(1, 2)
            for w, c in zip(self.qkv.weight.chunk(3), self.qkv.bias.chunk(3))
        )
        a = (q[..., :, None, :] * k[..., None, :, :]).sum(-1) / q.shape[-1] ** 0.5
        if mask is not None:
            a = a.masked_fill(mask == 0, -1e9)
        return self.o(
            (a.softmax(-1)[..., None] * v[..., None, :, :]).sum(-2).transpose(1, 2).reshape(b, n, e)
        )
