# expect: accepted
# problem: swiglu
import torch
from torch import Tensor, nn
from torch.nn.functional import linear


class GatedMLP(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.W = nn.Parameter(torch.randn(d_ff, d_model) * d_model**-0.5)
        self.V = nn.Parameter(torch.randn(d_ff, d_model) * d_model**-0.5)
        self.W2 = nn.Parameter(torch.randn(d_model, d_ff) * d_ff**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        z = linear(x, self.W)
        # tanh neither overflows nor has a derivative that does
        swish = z * (0.5 + 0.5 * torch.tanh(0.5 * z))
        return linear(swish * linear(x, self.V), self.W2)
