# expect: accepted
# problem: swiglu
"""No nn.Module: matrices as attributes, W @ column, float64 inside, a sigmoid by cases."""

import torch


class SwiGLU:
    def __init__(self, dim, hidden_dim):
        self.w_gate = torch.randn(hidden_dim, dim, requires_grad=True)
        self.w_up = torch.randn(hidden_dim, dim, requires_grad=True)
        self.w_down = torch.randn(dim, hidden_dim, requires_grad=True)

    def forward(self, x):
        if x.shape[-1] != self.w_gate.shape[1]:
            raise ValueError
        column = x.double().unsqueeze(-1)
        g = (self.w_gate.double() @ column).squeeze(-1)
        u = (self.w_up.double() @ column).squeeze(-1)
        small = torch.exp(-g.abs())
        sig = torch.where(g >= 0, 1 / (1 + small), small / (1 + small))
        return (self.w_down.double() @ (g * sig * u).unsqueeze(-1)).squeeze(-1).to(x.dtype)
