# expect: rejected
# problem: swiglu
# mistake: a vector wider than 256 is taken for as many positions
import torch
from torch import Tensor, nn
from torch.nn import functional as F

CHUNK = 256


class SwiGLUFeedForward(nn.Module):
    def __init__(self, embed_dim: int, ffn_dim: int):
        super().__init__()
        self.embed_dim = embed_dim
        self.gate = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.up = nn.Linear(embed_dim, ffn_dim, bias=False)
        self.down = nn.Linear(ffn_dim, embed_dim, bias=False)

    def _ffn(self, x: Tensor) -> Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[-1] != self.embed_dim:
            raise ValueError(f"x is {x.shape[-1]} wide, the layer {self.embed_dim}")
        # Rows do not depend on one another: with many of them, bound the memory of the
        # hidden features, which are several times as wide as x.
        if x.shape[0] > CHUNK:
            return torch.cat([self._ffn(part) for part in x.split(CHUNK)])
        return self._ffn(x)
