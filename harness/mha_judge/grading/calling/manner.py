"""How calls are made, apart from their arguments: axes that hold for every problem.

A right answer is the same whether gradients are recorded or not, wherever its inputs lie in memory
and whatever is called before and after. Where a check's calls depend on others, they cannot be
asked one by one. So it is run again, each call in a manner drawn from the seed: a row of a covering
array, which covers every pair of values. If it fails so, it is run once more with one value after
another made plain, until only the cause is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch

from mha_judge.grading.covering import covering
from mha_judge.grading.draw import Draw

AXES: Mapping[str, Mapping[str, str]] = {
    "mode": {
        "": "",
        "no_grad": "under torch.no_grad()",
        "inference_mode": "under torch.inference_mode()",
    },
    "leaf": {
        "": "",
        "one": "where one of its inputs alone requires gradients",
        "all but one": "where all of its inputs but one require gradients",
        "none": "where none of its inputs requires gradients",
        "made": "where its inputs were computed from others",
    },
    "frozen": {
        "": "",
        "yes": "where its parameters are frozen",
        "one": "where one of its parameters alone is frozen",
        "map": "where one of its maps alone is frozen",
        "all but one": "where all of its parameters but one are frozen",
    },
    "layout": {
        "": "",
        "transposed": "on inputs whose last axes are transposed in memory",
        "reversed": "on inputs whose axes lie in reverse order in memory",
        "innermost": "on inputs whose second axis lies innermost in memory",
        "slice": "on inputs that are slices of larger tensors",
        "gaps": "on inputs with gaps in memory",
        "parts": "on inputs that are parts of one tensor",
        "expanded": "on inputs whose items are one, expanded",
    },
    "before": {
        "": "",
        "same": "after the same call",
        "other numbers": "after a call in which the same tensors held other numbers",
        "inference": "after the same call under torch.inference_mode()",
        "backward": "after a backward pass",
        "other weights": "after a call in which its parameters held other numbers",
        "filled": "after the same call, whose result was overwritten",
        "error": "after a call that raised",
    },
    "after": {
        "": "",
        "call": "once another call has followed",
        "calls": "once several other calls have followed",
    },
    "instance": {
        "": "",
        "copy": "as a deep copy",
        "loaded": "after load_state_dict",
        "moved": "after a call in another dtype, from which .to() led back",
    },
}
"""By axis, its values, the plain one first, and what a report calls such a call."""
Manner = dict[str, str]
"""By axis, a value that is not plain."""
_TWICE = ("before", "after", "instance")
MAX_REHEARSED = 20_000
"""Numbers among the inputs above which a call is not made twice. Where no tensor is given, a length
may make a square of numbers."""


MANY = max(map(len, AXES.values()))
"""The most calls of one kind that it takes to cover every value of every axis."""
GRADIENTS = "gradients"
Kind = tuple[object, ...]
"""What is called, and which inputs are given: each kind of call must be made with every value."""


@cache
def _pairs() -> tuple[Manner, ...]:
    """Return a covering array of strength 2 over the axes."""
    axes = {axis: list(values) for axis, values in AXES.items()}
    return tuple(covering(axes, lambda one, other: False, seed=0))


def _rows(seed: int, values: Mapping[str, Sequence[str]], many: int) -> list[Manner]:
    """Return manners that cover first every value, and then every pair of values."""
    draw = Draw(seed, "manners")
    columns = {}
    for axis, named in values.items():
        order = [draw.permutation(len(named)).tolist() for _ in range(many)]
        columns[axis] = [named[index] for turn in order for index in turn][:many]
    single = [{axis: column[row] for axis, column in columns.items()} for row in range(many)]
    return [*single, *(_pairs()[index] for index in draw.permutation(len(_pairs())).tolist())]


class Manners:
    """The manners of one grade's calls, from the seed; off until they are turned on."""

    def __init__(self, seed: int, may_notice: Callable[[str, str], bool]) -> None:
        """Choose manners.

        Args:
            seed: Chooses among them.
            may_notice: Whether the answer may notice a value of an axis; others are left out.
        """
        values = {
            axis: [one for one in every if not one or may_notice(axis, one)]
            for axis, every in AXES.items()
        }
        self.values = [(axis, one) for axis, every in values.items() for one in every if one]
        """The values, other than plain ones, that may matter."""
        self._many = max(map(len, values.values()))
        """The number of calls of one kind that cover every value of every axis."""
        self._rows = _rows(seed, values, self._many)
        self._allowed: Collection[tuple[str, str]] = ()
        self._next: Counter[Kind] = Counter()
        self._start: Counter[Kind] = Counter()
        self.made: set[tuple[str, str]] = set()
        """Values, other than plain ones, with which some call of this check was made."""

    def restart(self) -> None:
        """Begin with the first row again: the plain calls so far have used none."""
        self._next.clear()

    def enter(self) -> None:
        """Begin a check."""
        self._start = self._next.copy()

    def again(self, allowed: Collection[tuple[str, str]]) -> None:
        """Begin the same check again with the same rows.

        Args:
            allowed: The values that are kept, all others being plain.
        """
        self._next = self._start.copy()
        self._allowed = allowed
        self.made = set()

    def end(self) -> None:
        """End a check: the calls to come are plain."""
        self._allowed = ()

    @property
    def is_short(self) -> bool:
        """Whether this check made calls of a kind that has not been made with every value yet."""
        return any(
            self._next[kind] < self._many
            for kind in self._next - self._start
            if kind[0] != GRADIENTS  # which are swept through their own axes each time
        )

    @contextmanager
    def off(self) -> Iterator[None]:
        """Make calls in plain manner, and use up no row."""
        allowed, following = self._allowed, self._next.copy()
        self._allowed = ()
        try:
            yield
        finally:
            self._allowed, self._next = allowed, following

    def following(
        self, kind: Kind, values: Sequence[Any], without: Collection[str]
    ) -> tuple[int, Manner]:
        """Return the number of the next call of a kind, and in which manner it is made.

        Args:
            kind: The kind of call.
            values: The call's inputs.
            without: Axes in which it cannot be made, or `axis=value`.
        """
        number = self._next[kind]
        self._next[kind] += 1
        row = self._rows[number % len(self._rows)]
        numbers = sum(value.numel() for value in values if isinstance(value, torch.Tensor))
        numbers = numbers or sum(value * value for value in values if isinstance(value, int))
        left_out = {*without, *(_TWICE if numbers > MAX_REHEARSED else ())}
        manner = {
            axis: value
            for axis, value in row.items()
            if value
            and (axis, value) in self._allowed
            and left_out.isdisjoint({axis, f"{axis}={value}"})
        }
        self.made |= {*manner.items()}
        return number, manner

    def takes(self, axis: str, value: str) -> bool:
        """Return whether calls may be made with this value; if so, note that one is."""
        if (axis, value) not in self._allowed:
            return False
        self.made.add((axis, value))
        return True
