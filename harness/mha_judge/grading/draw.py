"""Random inputs, repeatable from the report's seed, which is never sent to the worker."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)


def one_way(name: str) -> int:
    """Return a seed of 56 bits that follows from a name and does not tell it."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], "big")


class Draw:
    """The inputs of one check; two checks of one grade draw from different streams."""

    def __init__(self, seed: int, name: str) -> None:
        self._generator = torch.Generator().manual_seed(one_way(f"{seed}:{name}"))

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return standard normal numbers."""
        drawn = dtype if dtype is torch.float64 else torch.float32  # five times as fast to draw
        return torch.randn(shape, generator=self._generator, dtype=drawn).to(dtype)

    def integers(self, *shape: int, bound: int) -> Tensor:
        """Return whole numbers from −bound to bound, as float32: their products are exact."""
        drawn = torch.randint(-bound, bound + 1, shape, generator=self._generator)
        return drawn.to(torch.float32)

    def integer(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, both included."""
        return int(torch.randint(low, high + 1, (), generator=self._generator))

    def lengths(self, *shape: int, most: int) -> Tensor:
        """Return whole numbers from 1 to `most`, as int64."""
        return torch.randint(1, most + 1, shape, generator=self._generator)

    def permutation(self, count: int) -> Tensor:
        """Return the numbers below `count` in random order, as int64."""
        return torch.randperm(count, generator=self._generator)

    def sizes(self, names: str, choices: Sequence[int] = PRIMES) -> dict[str, int]:
        """Return a distinct prime for each of the names, so that no axis can pass for another."""
        wanted = names.split()
        order = self.permutation(len(choices)).tolist()[: len(wanted)]
        return {name: choices[index] for name, index in zip(wanted, order, strict=True)}

    def mask(self, *shape: int, keep: float = 0.6) -> Tensor:
        """Return a bool mask, True may attend; every row keeps a key, every mask blocks one.

        Of several rows not all are the same, so that another row's shows.
        """
        mask = torch.rand(shape, generator=self._generator) < keep
        first = torch.randint(shape[-1], shape[:-1], generator=self._generator)
        mask.scatter_(-1, first.unsqueeze(-1), True)
        if bool(mask.all()):
            mask.view(-1, shape[-1])[0, (int(first.reshape(-1)[0]) + 1) % shape[-1]] = False
        rows = mask.view(-1, shape[-1])
        if len(rows) > 1 and bool((rows == rows[0]).all()):
            rows[-1, (~rows[-1]).nonzero()[0]] = True
        return mask
