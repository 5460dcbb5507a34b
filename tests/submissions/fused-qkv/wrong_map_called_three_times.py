# expect: rejected
# problem: fused-qkv
# mistake: the fused map runs three times, once for each third
# diagnosis: three-products
import torch
from torch import nn


class FusedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h, self.e = num_heads, d_model
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def part(self, x, i):
        third = self.qkv(x)[..., i * self.e : (i + 1) * self.e]
        return third.unflatten(-1, (self.h, -1)).transpose(1, 2)

    def forward(self, x, mask=None):
        q, k, v = (self.part(x, i) for i in range(3))
        s = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -torch.inf)
        return self.out((s.softmax(-1) @ v).transpose(1, 2).flatten(2))
