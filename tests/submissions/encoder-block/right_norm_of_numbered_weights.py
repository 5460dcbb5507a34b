# expect: accepted
# problem: encoder-block
import torch
from torch import nn


class EncoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff):
        super().__init__()
        assert d_model % heads == 0
        self.heads = heads
        self.query, self.key, self.value, self.out = (
            nn.Linear(d_model, d_model) for _ in range(4)
        )
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.first, self.second = Norm(d_model), Norm(d_model)

    def attend(self, x, mask):
        q, k, v = (
            f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for f in (self.query, self.key, self.value)
        )
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))

    def forward(self, x, mask=None):
        y = self.first(x + self.attend(x, mask))
        return self.second(y + self.down(self.up(y).relu()))


class Norm(nn.Module):
    """w₀ + w₁ x̂, as in a regression: the intercept has the lower number."""

    def __init__(self, width):
        super().__init__()
        self.weight_0 = nn.Parameter(torch.zeros(width))
        self.weight_1 = nn.Parameter(torch.ones(width))

    def forward(self, x):
        variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
        return self.weight_0 + self.weight_1 * (x - mean) * torch.rsqrt(variance + 1e-5)
