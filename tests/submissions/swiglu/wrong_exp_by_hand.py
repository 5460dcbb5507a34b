# expect: rejected
# problem: swiglu
# mistake: z / (1 + exp(−z)) by hand, whose gradient is NaN for very negative gates
# diagnosis: gradient-overflows
import torch
from torch import nn


def silu(z):
    return z / (1 + torch.exp(-z))


class SwiGLUFeedForward(nn.Module):
    def __init__(self, embed_dim, ffn_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.up = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.down = nn.Linear(ffn_dim, embed_dim, bias=False)

    def forward(self, x):
        return self.down(silu(self.gate(x)) * self.up(x))
