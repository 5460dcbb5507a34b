# expect: rejected
# problem: padding-mask
# mistake: zeroes the padding in the caller's tensor
# diagnosis: padding-zeroed-in-place
import torch
from torch import nn


class MHA(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        assert d_model % n_heads == 0
        self.h = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        if mask is not None:
            x.mul_(mask.unsqueeze(-1).to(x.dtype))
        q, k, v = self.qkv(x).reshape(b, n, 3, self.h, e // self.h).permute(2, 0, 3, 1, 4)
        a = (q @ k.transpose(-2, -1)) * (e // self.h) ** -0.5
        if mask is not None:
            a = a.masked_fill(mask[:, None, None, :] == 0, float("-inf"))
        return self.proj((a.softmax(-1) @ v).transpose(1, 2).reshape(b, n, e))
