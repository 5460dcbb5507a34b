# expect: rejected
# problem: swiglu
# mistake: an x without leading axes gets one and loses it by squeeze(), which takes the feature axis along where E = 1
import torch
from torch import nn
import torch.nn.functional as F


class SwiGLUFeedForward(nn.Module):
    def __init__(self, embed_dim, ffn_dim):
        super().__init__()
        self.E = embed_dim
        self.gate = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.up = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.down = nn.Linear(ffn_dim, embed_dim, bias=False)

    def forward(self, x):
        if x.ndim == 1:
            return self.forward(x[None]).squeeze()
        if x.shape[-1] != self.E:
            raise ValueError("x is not E wide")
        return self.down(F.silu(self.gate(x)) * self.up(x))
