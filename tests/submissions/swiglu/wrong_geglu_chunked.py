# expect: rejected
# problem: swiglu
# mistake: GEGLU, with one map for both halves
# diagnosis: gelu-gate
import torch.nn.functional as F
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim):
        super().__init__()
        self.proj_in = nn.Linear(dim, 2 * hidden_dim, bias=False)
        self.proj_out = nn.Linear(hidden_dim, dim, bias=False)

    def forward(self, x):
        value, gate = self.proj_in(x).chunk(2, -1)
        return self.proj_out(value * F.gelu(gate))
