# expect: rejected
# problem: encoder-block
# mistake: the second norm shifts by the numbers of the first
import torch
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff):
        super().__init__()
        assert d_model % heads == 0
        self.heads = heads
        self.w_in = nn.Parameter(torch.randn(d_model, 3, d_model) / d_model**0.5)
        self.out = nn.Linear(d_model, d_model, bias=False)
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        one = torch.stack([torch.ones(d_model), torch.zeros(d_model)])
        self.first = nn.Parameter(one)
        self.second = nn.Parameter(one.clone())

    def attend(self, x, mask):
        q, k, v = (
            (x @ self.w_in[:, i]).unflatten(-1, (self.heads, -1)).transpose(1, 2) for i in range(3)
        )
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))

    def forward(self, x, mask=None):
        y = norm(x + self.attend(x, mask), *self.first)
        return norm(y + self.down(self.up(y).relu()), self.second[0], self.first[1])


def norm(x, scale, shift):
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + 1e-5) * scale + shift
