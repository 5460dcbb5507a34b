# expect: rejected
# problem: swiglu
# mistake: the activation is on the map called up_proj
# diagnosis: silu-on-up
import torch
from torch import nn


class LlamaMLP(nn.Module):
    def __init__(self, hidden_size, intermediate_size):
        super().__init__()
        self.up_proj = nn.Parameter(torch.randn(intermediate_size, hidden_size))
        self.gate_proj = nn.Parameter(torch.randn(intermediate_size, hidden_size))
        self.down_proj = nn.Parameter(torch.randn(hidden_size, intermediate_size))

    def forward(self, x):
        up = torch.einsum("...e,fe->...f", x, self.up_proj)
        gate = torch.einsum("...e,fe->...f", x, self.gate_proj)
        hidden = torch.sigmoid(up).mul(up).mul(gate)
        return torch.einsum("...f,ef->...e", hidden, self.down_proj)
