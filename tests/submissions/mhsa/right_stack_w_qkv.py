# expect: accepted
# problem: mhsa
import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads in {d_model}")
        self.h = num_heads
        self.W_o = nn.Parameter(torch.randn(d_model, d_model) / d_model**0.5)
        self.W_qkv = nn.Parameter(torch.randn(3, d_model, d_model) / d_model**0.5)
        self.b_qkv = nn.Parameter(torch.randn(3, d_model) / d_model)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        qkv = torch.einsum("bne,kfe->kbnf", x, self.W_qkv) + self.b_qkv[:, None, None]
        q, k, v = qkv.view(3, b, n, self.h, e // self.h).transpose(2, 3)
        scores = q @ k.mT / (e // self.h) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, e) @ self.W_o.T
