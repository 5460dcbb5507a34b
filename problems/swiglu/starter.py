# problem: swiglu
"""A gated feed-forward layer, SwiGLU, without biases."""
# … leading  E model features  F hidden features

import torch
from torch import Tensor, nn


class SwiGLUFeedForward(nn.Module):
    """down(SiLU(gate(x)) · up(x)), where SiLU(z) = z · sigmoid(z)."""

    def __init__(self, embed_dim: int, ffn_dim: int) -> None:
        super().__init__()
        # TODO: three maps without biases, gate and up (E → F) and down (F → E)
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Return the output (…, E) for x (…, E)."""
        # TODO
        raise NotImplementedError
