# expect: rejected
# problem: mhsa
# mistake: blocked scores are set to -50
# diagnosis: fill-too-small
import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.in_proj = nn.Linear(d_model, 3 * d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        q, k, v = self.in_proj(x).view(b, n, 3, self.h, -1).permute(2, 0, 3, 1, 4)
        a = torch.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
        if mask is not None:
            a = torch.where(mask == 0, -50.0, a)
        return self.out_proj(torch.einsum("bhij,bhjd->bihd", a.softmax(-1), v).reshape(b, n, e))
