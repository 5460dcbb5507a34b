# expect: accepted
# problem: swiglu
import torch
from torch import nn


class SwiGLUFeedForward(nn.Module):
    """gate_up holds gate, up, gate, up, … one after the other."""

    def __init__(self, embed_dim, ffn_dim):
        super().__init__()
        self.down = nn.Parameter(torch.empty(ffn_dim, embed_dim))
        self.gate_up = nn.Parameter(torch.empty(embed_dim, 2 * ffn_dim))
        nn.init.normal_(self.down)
        nn.init.normal_(self.gate_up)

    def forward(self, x):
        both = x @ self.gate_up
        gate, up = both[..., ::2], both[..., 1::2]
        return (gate * gate.sigmoid() * up) @ self.down
