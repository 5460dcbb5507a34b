# expect: accepted
# problem: encoder-block
import math

import torch
from torch import nn


class LayerNorm(nn.Module):
    """y = γ · (x − μ) / σ + β"""

    def __init__(self, d, ε=1e-5):
        super().__init__()
        self.β = nn.Parameter(torch.zeros(d))
        self.γ = nn.Parameter(torch.ones(d))
        self.ε = ε

    def forward(self, x):
        μ = x.mean(-1, keepdim=True)
        σ2 = (x - μ).pow(2).mean(-1, keepdim=True)
        return self.γ * (x - μ) / torch.sqrt(σ2 + self.ε) + self.β


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        assert d_model % n_heads == 0
        self.h, self.d_k = n_heads, d_model // n_heads
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_model, d_model)
        self.Wv = nn.Linear(d_model, d_model)
        self.Wo = nn.Linear(d_model, d_model)
        self.ln1, self.ln2 = LayerNorm(d_model), LayerNorm(d_model)
        self.ff = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def attend(self, x, mask):
        B, L, E = x.shape
        q, k, v = (
            W(x).view(B, L, self.h, self.d_k).transpose(1, 2) for W in (self.Wq, self.Wk, self.Wv)
        )
        α = q @ k.transpose(-1, -2) / math.sqrt(self.d_k)
        if mask is not None:
            α = α.masked_fill(mask == 0, float("-inf"))
        return self.Wo((α.softmax(-1) @ v).transpose(1, 2).reshape(B, L, E))

    def forward(self, x, mask=None):
        y = self.ln1(x + self.attend(x, mask))
        return self.ln2(y + self.ff(y))
