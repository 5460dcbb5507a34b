# expect: rejected
# problem: swiglu
# mistake: a β that is learnt stands in the sigmoid, and is a parameter too many
import torch
from torch import nn
from torch.nn import functional as F


class SwiGLUFeedForward(nn.Module):
    def __init__(self, embed_dim, ffn_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.up = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.down = nn.Linear(ffn_dim, embed_dim, bias=False)
        self.beta = nn.Parameter(torch.ones(()))

    def forward(self, x):
        gate = self.gate(x)
        up = self.up(x)
        hidden = gate * torch.sigmoid(self.beta * gate) * up
        return self.down(hidden)
