# expect: accepted
# problem: encoder-block
import torch
from torch import nn


def normalized(x, mul, add):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt() * mul + add


class TransformerBlock(nn.Module):
    def __init__(self, dim, heads, mlp_dim):
        super().__init__()
        if dim % heads:
            raise ValueError(f"dim {dim} is not a multiple of heads {heads}")
        self.heads = heads
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.to_out = nn.Linear(dim, dim)
        self.up = nn.Linear(dim, mlp_dim)
        self.down = nn.Linear(mlp_dim, dim)
        self.mul1 = nn.Parameter(torch.ones(dim))
        self.mul2 = nn.Parameter(torch.ones(dim))
        self.add1 = nn.Parameter(torch.zeros(dim))
        self.add2 = nn.Parameter(torch.zeros(dim))

    def forward(self, x, mask=None):
        b, n, d = x.shape
        q, k, v = self.to_qkv(x).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        dots = q @ k.transpose(2, 3) * (d // self.heads) ** -0.5
        if mask is not None:
            dots = dots.masked_fill(~mask.bool(), -1e9)
        out = (dots.softmax(dim=-1) @ v).transpose(1, 2).reshape(b, n, d)
        x = normalized(x + self.to_out(out), self.mul1, self.add1)
        return normalized(x + self.down(self.up(x).relu()), self.mul2, self.add2)
