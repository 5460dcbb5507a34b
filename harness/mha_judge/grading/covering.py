"""Covering arrays with constraints: few rows that cover every pair of values of two axes.

Each row begins with a pair that no row covers yet, and takes from every other axis the value that
covers most new pairs. (D. M. Cohen and others, The AETG System: An Approach to Testing Based on
Combinatorial Design, IEEE Transactions on Software Engineering 23, 1997.)
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

Value = tuple[str, str]
"""An axis, and one of its values."""
Row = dict[str, str]
"""A value of each axis."""


def covering(
    axes: Mapping[str, Sequence[str]],
    are_apart: Callable[[Value, Value], bool],
    seed: int,
    presets: Iterable[Mapping[str, str]] = (),
    hiding: Sequence[Collection[Value]] = (),
) -> list[Row]:
    """Return rows that cover every pair of values of two axes that may occur together.

    A row covers only those of its pairs that no third value hides.

    Args:
        axes: The values of each axis. The first value of an axis may occur with all others, and is
            taken where no value covers a new pair. Only in the first axis may every value exclude
            others; then every pair of others must be allowed with one of its values.
        are_apart: Whether two values exclude each other; symmetric.
        seed: Chooses among rows that are equally good.
        presets: Sets of more than two values that must occur together in a row.
        hiding: Values that hide pairs of others, as `ranks` takes them.
    """
    array = _Array(axes, are_apart, seed, hiding)
    rows = [array.row([array.numbers[one] for one in preset.items()]) for preset in presets]
    order = list(array.numbers.values())
    random.Random(seed).shuffle(order)
    for one in order:
        while left := array.left[one]:
            rows.append(array.row([one, left.bit_length() - 1]))
    return rows


def ranks(hiding: Sequence[Collection[Value]]) -> dict[Value, int]:
    """Return how strongly values hide others, from 1 on; what is not listed hides nothing.

    Args:
        hiding: Sets of values, those that hide least first. A value hides pairs of two others that
            hide less than it does.
    """
    return {one: rank for rank, every in enumerate(hiding, 1) for one in every}


class _Array:
    """Values are numbered; a set of values is an integer with a bit for each."""

    def __init__(
        self,
        axes: Mapping[str, Sequence[str]],
        are_apart: Callable[[Value, Value], bool],
        seed: int,
        hiding: Sequence[Collection[Value]],
    ) -> None:
        values = [(axis, value) for axis, every in axes.items() for value in every]
        self.numbers = {one: number for number, one in enumerate(values)}
        self._values = values
        self._axes = [
            (axis, [self.numbers[axis, value] for value in every]) for axis, every in axes.items()
        ]
        known = ranks(hiding)
        self._rank = [known.get(one, 0) for one in values]
        self._of_rank = [
            sum(1 << number for number, one in enumerate(self._rank) if one == rank)
            for rank in range(len(hiding) + 1)
        ]
        self._chance = random.Random(seed)
        self._fits = [0] * len(values)
        for one, two in itertools.combinations(values, 2):
            if one[0] != two[0] and not are_apart(one, two):
                self._fits[self.numbers[one]] |= 1 << self.numbers[two]
                self._fits[self.numbers[two]] |= 1 << self.numbers[one]
        self.left = [*self._fits]
        """By value, the values with which it forms a pair that is not covered yet."""

    def row(self, given: Sequence[int]) -> Row:
        """Return a row that begins with some values, and take its pairs off those left."""
        row = [*given]
        taken = sum(1 << one for one in row)
        top = max(self._rank[one] for one in row)
        named = {self._values[one][0] for one in row}
        first, *others = self._axes
        self._chance.shuffle(others)
        for axis, (plain, *rest) in (first, *others):
            if axis in named:
                continue
            best, most = plain, (-1, 0.0)
            for one in (plain, *rest):
                if self._fits[one] & taken == taken and self._rank[one] <= top:
                    new = (self.left[one] & self._shown(one, taken, top)).bit_count()
                    ranked = (new, self._chance.random() if one != plain else 1.0)
                    best, most = (one, ranked) if ranked > most else (best, most)
            row.append(best)
            taken |= 1 << best
        for one in row:
            self.left[one] &= ~self._shown(one, taken, top)
        return dict(self._values[one] for one in row)

    def _shown(self, one: int, row: int, top: int) -> int:
        """Return the values of a row with which `one` forms a pair that no third value hides."""
        return row if self._rank[one] == top else row & self._of_rank[top]
