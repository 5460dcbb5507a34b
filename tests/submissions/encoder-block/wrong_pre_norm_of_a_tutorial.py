# expect: rejected
# problem: encoder-block
# mistake: each sub-layer is wrapped as x + f(norm(x)), with a norm of its own making
# diagnosis: pre-ln-with-unbiased-std
import torch
from torch import nn


class Centred(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))

    def forward(self, x):
        away = x - x.mean(dim=-1, keepdim=True)
        return self.gain * away / (x.std(dim=-1, keepdim=True) + 1e-6) + self.shift


class Wrapped(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm = Centred(size)

    def forward(self, x, inner):
        return x + inner(self.norm(x))


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("heads must divide d_model")
        self.n_heads = n_heads
        self.maps = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        self.wide, self.narrow = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.sublayers = nn.ModuleList(Wrapped(d_model) for _ in range(2))

    def attend(self, x, mask):
        b, n, e = x.shape
        q, k, v = (f(x).view(b, n, self.n_heads, -1).transpose(1, 2) for f in self.maps[:3])
        scores = q @ k.transpose(-2, -1) / (e // self.n_heads) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        return self.maps[3]((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, e))

    def forward(self, x, mask=None):
        x = self.sublayers[0](x, lambda y: self.attend(y, mask))
        return self.sublayers[1](x, lambda y: self.narrow(self.wide(y).relu()))
