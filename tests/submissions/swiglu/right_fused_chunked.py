# expect: accepted
# problem: swiglu
import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    """The activation alone: of two halves the second is the gate."""

    def forward(self, x):
        x, gate = x.chunk(2, dim=-1)
        return F.silu(gate) * x


class FeedForward(nn.Module):
    def __init__(self, dim, inner_dim):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(dim, inner_dim * 2, bias=False), SwiGLU(), nn.Linear(inner_dim, dim, bias=False)
        )

    def forward(self, x):
        return self.net(x)
