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
        self.query, self.key, self.value, self.out = (
            nn.Linear(d_model, d_model) for _ in range(4)
        )
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.add_norm1_gamma = nn.Parameter(torch.ones(1, d_model))
        self.add_norm1_beta = nn.Parameter(torch.zeros(1, d_model))
        self.post_bias_scale_2 = nn.Parameter(torch.ones(1, 1, d_model))
        self.post_bias_shift_2 = nn.Parameter(torch.zeros(1, 1, d_model))

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
        y = standard(x + self.attend(x, mask)) * self.add_norm1_gamma + self.add_norm1_beta
        z = standard(y + self.down(self.up(y).relu()))
        return z * self.post_bias_scale_2 + self.add_norm1_beta


def standard(x):
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + 1e-5)
