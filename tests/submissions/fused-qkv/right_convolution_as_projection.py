# expect: accepted
# problem: fused-qkv
import torch
from torch import nn


class QKVAttention(nn.Module):
    """Projections by 1×1 convolutions over channels first, as diffusion models have them."""

    def __init__(self, channels, num_heads):
        super().__init__()
        assert channels % num_heads == 0
        self.num_heads = num_heads
        self.qkv = nn.Conv1d(channels, channels * 3, 1)
        self.proj_out = nn.Conv1d(channels, channels, 1)

    def forward(self, x, mask=None):
        b, n, c = x.shape
        qkv = self.qkv(x.transpose(1, 2))  # (B, 3C, L)
        q, k, v = qkv.reshape(b, self.num_heads, 3, -1, n).unbind(2)  # (B, H, D, L)
        scale = q.shape[2] ** -0.25
        weight = torch.einsum("bhct,bhcs->bhts", q * scale, k * scale)
        if mask is not None:
            weight = weight.masked_fill(mask == 0, -torch.inf)
        a = torch.einsum("bhts,bhcs->bhct", torch.softmax(weight, dim=-1), v)
        return self.proj_out(a.reshape(b, c, n)).transpose(1, 2)
