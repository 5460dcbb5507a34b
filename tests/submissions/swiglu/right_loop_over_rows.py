# expect: accepted
# problem: swiglu
import torch
from torch import nn


class FFN(nn.Module):
    """One position after the other, in float32 within half precision."""

    def __init__(self, width, hidden):
        super().__init__()
        self.stack = nn.Parameter(torch.randn(2, hidden, width))  # gate, then up
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        if x.shape[-1] != self.stack.shape[-1]:
            raise ValueError("another width")
        wide = torch.promote_types(x.dtype, torch.float32)
        gate, up = self.stack.to(wide)
        rows = []
        for row in x.to(wide).reshape(-1, x.shape[-1]):
            g = gate.mv(row)
            rows.append(self.down.weight.to(wide).mv(torch.sigmoid(g) * g * up.mv(row)))
        return torch.stack(rows).reshape(x.shape).to(x.dtype)
