# expect: rejected
# problem: swiglu
# mistake: gates below -16 are cut off to exactly 0
import torch
from torch import nn


class SwiGLUFeedForward(nn.Module):
    def __init__(self, embed_dim, ffn_dim):
        super().__init__()
        self.gate_proj = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.up_proj = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.down_proj = nn.Linear(ffn_dim, embed_dim, bias=False)

    def forward(self, x):
        z = self.gate_proj(x)
        dead = z < -16  # exp(-z) would overflow in half precision
        safe = z.masked_fill(dead, 0.0)
        silu = safe * torch.sigmoid(safe)
        return self.down_proj(silu * self.up_proj(x))
