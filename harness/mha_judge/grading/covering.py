"""Covering arrays with constraints: few rows that cover every pair of values of two axes.

Each row begins with a pair that no row covers yet, and takes from every other axis the value that
covers most new pairs. (D. M. Cohen and others, The AETG System: An Approach to Testing Based on
Combinatorial Design, IEEE Transactions on Software Engineering 23, 1997.)
"""

from __future__ import annotations

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
    hiding: Collection[Value] = (),
) -> list[Row]:
    """Return rows that cover every pair of values of two axes that may occur together.

    Args:
        axes: The values of each axis. The first value of an axis may occur with all others, and is
            taken where no value covers a new pair. Only in the first axis may every value exclude
            others; then every pair of others must be allowed with one of its values.
        are_apart: Whether two values exclude each other; symmetric.
        seed: Chooses among rows that are equally good.
        presets: Sets of more than two values that must occur together in a row.
        hiding: Values that mask others. In a row with such a value, a pair of two others does not
            count as covered.
    """
    array = _Array(axes, are_apart, seed, hiding)
    rows = [array.row(list(preset.items())) for preset in presets]
    for one in array.values:
        while array.left[one]:
            rows.append(array.row([one, min(array.left[one])]))
    return rows


class _Array:
    def __init__(
        self,
        axes: Mapping[str, Sequence[str]],
        are_apart: Callable[[Value, Value], bool],
        seed: int,
        hiding: Collection[Value],
    ) -> None:
        self._axes = axes
        self._hiding = hiding
        self._chance = random.Random(seed)
        self.values = [(axis, value) for axis, every in axes.items() for value in every]
        self._fits = {
            one: {two for two in self.values if one[0] != two[0] and not are_apart(one, two)}
            for one in self.values
        }
        self.left = {one: set(others) for one, others in self._fits.items()}
        """By value, the values with which it forms a pair that is not covered yet."""
        self._chance.shuffle(self.values)

    def row(self, row: list[Value]) -> Row:
        """Return a row that begins with some values, and take its pairs off those left."""
        hides = any(one in self._hiding for one in row)
        given = {axis for axis, _ in row}
        first, *others = (axis for axis in self._axes)
        self._chance.shuffle(others)
        others = [axis for axis in (first, *others) if axis not in given]
        for axis in others:
            plain, *rest = self._axes[axis]
            able = [(axis, value) for value in (plain, *self._chance.sample(rest, len(rest)))]
            able = [one for one in able if self._fits[one].issuperset(row)]
            able = [one for one in able if hides or one not in self._hiding]
            row.append(max(able, key=lambda one: len(self.left[one] & self._shown(one, row))))
        for one in row:
            self.left[one] -= self._shown(one, row)
        return dict(row)

    def _shown(self, one: Value, row: Sequence[Value]) -> set[Value]:
        """Return the values of a row with which `one` forms a pair that is not masked."""
        hiding = {other for other in row if other in self._hiding}
        return {*row} if one in self._hiding or not hiding else hiding
