# expect: accepted
# problem: mhsa
import torch
from torch import nn


class MultiheadSelfAttention(nn.Module):
    """One key after the other, with a running maximum; slow, and exact."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(embed_dim, num_heads)
        self.h = num_heads
        self.q_lin = nn.Linear(embed_dim, embed_dim)
        self.k_lin = nn.Linear(embed_dim, embed_dim)
        self.v_lin = nn.Linear(embed_dim, embed_dim)
        self.out_lin = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None):
        q, k, v = (
            m(x).unflatten(-1, (self.h, -1)).movedim(-2, 1)
            for m in (self.q_lin, self.k_lin, self.v_lin)
        )
        n, d = q.shape[-2:]
        bias = torch.zeros(1, 1, n, n, dtype=x.dtype)
        if mask is not None:
            bias = torch.zeros(mask.shape, dtype=x.dtype).masked_fill(mask == 0, -1e30)
        bias = bias.expand(x.shape[0], self.h, n, n)
        top = torch.full(q.shape[:-1], -torch.inf, dtype=x.dtype)
        total = torch.zeros_like(top)
        acc = torch.zeros_like(q)
        for j in range(n):
            s = (q * k[:, :, j : j + 1]).sum(-1) / d**0.5 + bias[..., j]
            new = torch.maximum(top, s)
            old, e = torch.exp(top - new), torch.exp(s - new)
            total = total * old + e
            acc = acc * old[..., None] + e[..., None] * v[:, :, j : j + 1]
            top = new
        return self.out_lin((acc / total[..., None]).movedim(1, -2).flatten(-2))
