# expect: rejected
# problem: fused-qkv
# mistake: no division by sqrt(D)
# diagnosis: no-scale
import torch
from torch import nn


class FusedQKVAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError
        self.n_heads = n_heads
        self.Wqkv = nn.Linear(d_model, 3 * d_model)
        self.Wo = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        qkv = self.Wqkv(x).view(b, n, self.n_heads, 3, -1)
        q, k, v = qkv[..., 0, :], qkv[..., 1, :], qkv[..., 2, :]
        s = torch.einsum("bihd,bjhd->bhij", q, k)
        if mask is not None:
            s = s.masked_fill(~mask.bool(), -torch.inf)
        return self.Wo(torch.einsum("bhij,bjhd->bihd", torch.softmax(s, -1), v).reshape(b, n, e))
