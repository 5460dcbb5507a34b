# expect: rejected
# problem: swiglu
# mistake: the gate is clamped before the sigmoid
import torch
from torch import nn


class SwiGLUFeedForward(nn.Module):
    def __init__(self, embed_dim, ffn_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.up = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.down = nn.Linear(ffn_dim, embed_dim, bias=False)

    def forward(self, x):
        z = self.gate(x)
        silu = z * torch.sigmoid(z.clamp(-20, 20))  # beyond +-20 sigmoid is 0 or 1 anyway
        return self.down(silu * self.up(x))
