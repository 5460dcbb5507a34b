# problem: some-object
"""FILL IN: the title."""

from torch import Tensor


class SomeObject:
    """FILL IN: what it keeps between calls."""

    def append(self, k: Tensor) -> None:
        """FILL IN: shapes of what goes in."""
        # TODO
        raise NotImplementedError

    def gather(self) -> Tensor:
        """FILL IN: shapes of what comes out."""
        # TODO
        raise NotImplementedError
