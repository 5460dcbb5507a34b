# expect: rejected
# problem: swiglu
# mistake: torch's glu, whose gate is the sigmoid alone
# diagnosis: sigmoid-gate
import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fused = nn.Linear(d_model, d_ff + d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.down(F.glu(self.fused(x), dim=-1))
