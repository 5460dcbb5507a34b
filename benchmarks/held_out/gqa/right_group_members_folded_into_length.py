# problem: gqa
# right: all query heads of a group are laid end to end along the length, one bmm per batch and group, the mask is folded the same way
import torch
from torch import nn, Tensor


class GroupQueryAttention(nn.Module):
    """The R = H/G query heads of a group share keys, so they may as well be R*L queries of one head."""

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if num_heads % num_kv_heads != 0:
            raise ValueError("num_kv_heads must divide num_heads")
        self.dim = d_model // num_heads
        self.groups = num_kv_heads
        self.members = num_heads // num_kv_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, self.groups * self.dim, bias=False)
        self.W_v = nn.Linear(d_model, self.groups * self.dim)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        b, n, e = x.shape
        g, r, d = self.groups, self.members, self.dim
        q = self.W_q(x).reshape(b, n, g * r, d).transpose(1, 2).reshape(b * g, r * n, d)
        k = self.W_k(x).reshape(b, n, g, d).transpose(1, 2).reshape(b * g, n, d)
        v = self.W_v(x).reshape(b, n, g, d).transpose(1, 2).reshape(b * g, n, d)
        s = torch.bmm(q, k.transpose(1, 2)) * (1 / d**0.5)
        if mask is not None:
            keep = mask.bool().expand(b, g * r, n, n).reshape(b * g, r * n, n)
            s = s.masked_fill(keep.logical_not(), -1e9)
        o = torch.bmm(torch.softmax(s, dim=-1), v)
        o = o.reshape(b, g * r, n, d).transpose(1, 2).reshape(b, n, e)
        return self.W_o(o)
