# expect: rejected
# problem: swiglu
# mistake: positions from 4096 on come back as zeros
import torch
from torch import nn
from torch.nn import functional as F


class SwiGLUFeedForward(nn.Module):
    def __init__(self, embed_dim, ffn_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.up = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.down = nn.Linear(ffn_dim, embed_dim, bias=False)

    def forward(self, x):
        gate = self.gate(x)
        up = self.up(x)
        hidden = F.silu(gate) * up
        out = self.down(hidden)
        if x.ndim > 1 and x.shape[-2] > 4096:
            out = torch.cat((out[..., :4096, :], torch.zeros_like(out[..., 4096:, :])), -2)
        return out
