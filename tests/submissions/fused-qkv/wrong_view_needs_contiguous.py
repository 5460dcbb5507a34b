# expect: rejected
# problem: fused-qkv
# mistake: view(-1, E) on the input
# diagnosis: input-flattened-by-view
import torch
from torch import nn


class FusedSelfAttention(nn.Module):
    def __init__(self, nx, n_head):
        super().__init__()
        assert nx % n_head == 0
        self.n_head = n_head
        self.weight = nn.Parameter(torch.randn(nx, 3 * nx) * 0.02)
        self.bias = nn.Parameter(torch.zeros(3 * nx))
        self.c_proj = nn.Linear(nx, nx)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        qkv = torch.addmm(self.bias, x.view(-1, e), self.weight).view(b, n, 3, self.n_head, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        s = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        return self.c_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, e))
