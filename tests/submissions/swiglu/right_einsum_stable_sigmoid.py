# expect: accepted
# problem: swiglu
import torch
from torch import nn


def sigmoid(z):
    """Only exponentials of negative numbers are taken."""
    e = torch.exp(-z.abs())
    return torch.where(z >= 0, 1 / (1 + e), e / (1 + e))


class LlamaMLP(nn.Module):
    def __init__(self, hidden_size, intermediate_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.gate_proj = nn.Parameter(torch.randn(hidden_size, intermediate_size))
        self.up_proj = nn.Parameter(torch.randn(hidden_size, intermediate_size))
        self.down_proj = nn.Parameter(torch.randn(intermediate_size, hidden_size))

    def forward(self, hidden_states):
        assert hidden_states.size(-1) == self.hidden_size
        g = torch.einsum("...e,ef->...f", hidden_states, self.gate_proj)
        u = torch.einsum("...e,ef->...f", hidden_states, self.up_proj)
        return torch.einsum("...f,fe->...e", g * sigmoid(g) * u, self.down_proj)
