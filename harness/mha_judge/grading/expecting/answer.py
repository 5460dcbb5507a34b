"""What a call returned, beside what was expected of it."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any

from torch import Tensor

from mha_judge.bank.problem import Entry
from mha_judge.grading.expecting.arrays import narrowed, only_arrays, returned
from mha_judge.grading.expecting.compare import (
    compare,
    describe,
    require_defined,
    require_form,
)
from mha_judge.grading.expecting.expected import Expected, Live
from mha_judge.grading.failures import CheckFailure
from mha_judge.wire import Kept, map_tree


def by_name(entry: Entry, value: Any) -> dict[str, Any]:
    """Return what a call returned under the contract's names; a list or tuple holds several."""
    value = returned(entry, value)
    if isinstance(value, (list, tuple)) and value:
        return dict(zip(entry.returns, value, strict=False))
    return {entry.returns[0]: value}


class Answer:
    """What a call returned, beside what was expected of it."""

    def __init__(self, entry: Entry, value: Any, expected: Any, call: int | None = None) -> None:
        self._entry = entry
        self._call = call
        self.expected = _expected_by_name(entry, expected)
        self._values = by_name(entry, only_arrays(entry, value))

    def against(self, expected: Any) -> Answer:
        """Return the same answer beside what is expected for another call."""
        other = copy(self)
        other.expected = _expected_by_name(self._entry, expected)
        return other

    def has(self, name: str) -> bool:
        """Return whether the candidate returned this result at all."""
        return self._values.get(name) is not None

    def pairs(self, name: str) -> Iterator[tuple[Any, Expected, str]]:
        """Yield every tensor of a result with its expectation and a label.

        Raises:
            CheckFailure: If the result is missing or not built as the contract says.
        """
        if name not in self._values:
            raise CheckFailure(f"returns no {name}; {', '.join(self._entry.returns)} are wanted")
        for value, expected, label in _pairs(self._values[name], self.expected[name], name):
            if self._entry.arrays == "numpy":
                if not isinstance(value, Tensor):
                    raise CheckFailure(f"{label} is {describe(value)}; a NumPy array is wanted")
                value = narrowed(value, expected.rounded.dtype)
            yield value, expected, label

    def __getattr__(self, name: str) -> Tensor:
        """Return a result by name, known to have the expected shape and dtype."""
        if name.startswith("_") or name not in self.expected:
            raise AttributeError(name)
        [(value, expected, label)] = self.pairs(name)
        return require_form(value, expected, label)

    def tensors(self, name: str) -> list[Tensor]:
        """Return all tensors of a nested result, known to have the expected form."""
        return [require_form(value, wanted, label) for value, wanted, label in self.pairs(name)]

    def beside(self, **scales: float) -> Answer:
        """Return the answer with the magnitude of the numbers that each result was computed from.

        A difference of large numbers may be next to nothing, but its error is as large as theirs.
        """
        for name, scale in scales.items():
            self.expected[name] = replace(self.expected[name], scale=float(scale))
        return self

    def live(self, name: str, count: int = 0, axis: int = 0, turned: bool = False) -> Live:
        """Return the very object that the worker returned, to pass it on to a later call.

        Args:
            name: Of the result.
            count: How many of its first items are passed on, as views; all by default.
            axis: What these lie along, if not the first axis.
            turned: Whether the caller puts the items in reverse order first, in place.
        """
        if self._call is None:
            raise RuntimeError("only an answer of a call with keep=True is live")
        list(self.pairs(name))  # raises unless the result is built as the contract says
        index = self._entry.returns.index(name)
        kept = Kept(self._call, (index,), count, axis, turned)
        expected = self.expected[name]
        if count or turned:
            expected = map_tree(lambda one: _part_of(kept, one), expected)
        return Live(kept, expected)


def _part_of(kept: Kept, one: Expected) -> Expected:
    exact, rounded = (kept.part_of(tensor.clone()) for tensor in (one.exact, one.rounded))
    return replace(one, exact=exact, rounded=rounded)


def _expected_by_name(entry: Entry, expected: Any) -> dict[str, Any]:
    names = entry.returns
    many = isinstance(expected, tuple) and len(names) > 1
    return dict(zip(names, expected, strict=False)) if many else {names[0]: expected}


def assert_close(answer: Answer, *names: str, nan: bool = False) -> None:
    """Assert that the named results are what the reference gives, within the error budget.

    Args:
        answer: What a call returned.
        names: Which of the contract's results are compared.
        nan: Whether the contract defines where NaN stands.

    Raises:
        CheckFailure: If a result is missing, of another shape or dtype, or too far off.
        ValueError: If the reference gives NaN and the contract does not: the grader is at fault.
    """
    for name in names:
        for found, expected, label in answer.pairs(name):
            if not nan:
                require_defined(expected, label)
            compare(found, expected, label)


def _pairs(value: Any, expected: Any, label: str) -> Iterator[tuple[Any, Expected, str]]:
    if isinstance(expected, Expected):
        yield value, expected, label
        return
    if not isinstance(value, (list, tuple)) or len(value) != len(expected):
        raise CheckFailure(f"{label} is {describe(value)}; {len(expected)} tensors are wanted")
    for index, (item, wanted) in enumerate(zip(value, expected, strict=True)):
        yield from _pairs(item, wanted, f"{label}[{index}]")
