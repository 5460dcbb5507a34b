# problem: some-module
"""FILL IN: the title."""

from torch import Tensor, nn


class SomeModule(nn.Module):
    """FILL IN: the equation."""

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        # TODO: the maps
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """FILL IN: shapes of what goes in and what comes out."""
        # TODO
        raise NotImplementedError
