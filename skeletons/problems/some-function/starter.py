# problem: some-function
"""FILL IN: the title."""

from torch import Tensor


def some_function(q: Tensor, k: Tensor) -> Tensor:
    """FILL IN: the equation, and shapes of what goes in and what comes out."""
    # TODO
    raise NotImplementedError
