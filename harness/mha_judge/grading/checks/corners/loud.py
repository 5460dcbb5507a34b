"""Positions with larger numbers than others, which must change nothing where they are blocked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from mha_judge.grading.calling.function import Function
from mha_judge.grading.checks.cases import Case, shapes_of
from mha_judge.grading.checks.corners.asking import Compared, unmoved
from mha_judge.grading.draw import Draw
from mha_judge.grading.expecting.compare import require_form
from mha_judge.grading.failures import CheckFailure

_LOUD, _FACTOR, _FACTOR_OF_VALUES = 2, 8.0, 100.0
"""How many positions of a long input are larger than the others, and how much."""
_ROUNDED, _RUN = 256, 4
"""The last position that bfloat16 counts exactly, and how many adjacent ones beyond it are loud."""
_MOST_MOVE = 4.0
"""How far a result may move where the reference's stays the same, in units of its dtype's
epsilon."""


def louder(
    case: Case, args: Sequence[Any], letters: Mapping[str, int], draw: Draw
) -> tuple[list[Any], list[Any]]:
    """Return the arguments, and the same with some positions louder.

    In both, lengths end beside these positions.
    """
    shapes = shapes_of(case.target, case.domain, args)
    names = case.target.entry.arguments
    quiet = [*args]
    loud: dict[int, Tensor] = {}
    # if only values are loud, scores stay small, and so do their rounding errors
    of_values = "v" in names and isinstance(case.target, Function)
    factor = _FACTOR_OF_VALUES if of_values else _FACTOR
    for letter in case.long:
        if letter in letters:
            half = letters[letter] // 2  # an early one would drown the others under causality
            places = half + draw.permutation(half)[:_LOUD]
            if letters[letter] > _ROUNDED:
                places = _with_neighbours(places, letters[letter])
            for index, axis in shapes.places(letter):
                if of_values and names[index] != "v":
                    continue
                loud[index] = _raised(loud.get(index, quiet[index]), axis, places, factor)
            for name in (one for one, up_to in case.domain.lengths.items() if up_to == letter):
                index = names.index(name)
                if index < len(quiet) and quiet[index] is not None:
                    quiet[index] = _ending_at(places, quiet[index], draw)
    return quiet, [loud.get(index, value) for index, value in enumerate(quiet)]


def require_unmoved(before: Compared, after: Compared) -> None:
    """Assert that a result changes only where the reference's does."""
    (found, exact, label), (other, changed, _) = before, after
    same = unmoved(exact, changed)
    one, two = (require_form(value, exact, label).float() for value in (found, other))
    apart = torch.where(same, (one - two).abs_(), 0.0)
    allowed = _MOST_MOVE * torch.finfo(exact.rounded.dtype).eps * exact.size
    if apart.numel() and not float(apart.max()) <= allowed:
        index = [int(i) for i in (~(apart <= allowed)).nonzero()[0]]
        raise CheckFailure(
            f"{label} changes with positions that are blocked for it",
            f"first at {index}: by {float(apart[tuple(index)]):.3g}, where such alone were changed",
            margin=float(apart.max()) / allowed,
        )


def _with_neighbours(places: Tensor, size: int) -> Tensor:
    """Return adjacent positions beyond the last one that bfloat16 counts exactly."""
    first = max(_ROUNDED + 1, min(int(places[0]), size - 2 * _RUN))
    return torch.arange(first, min(first + _RUN, size))


def _raised(value: Tensor, axis: int, places: Tensor, factor: float) -> Tensor:
    """Return numbers with some positions louder, in each item one later than in the one before.

    If an answer rounds positions, it rounds about one in four down to the one before it. Only the
    first loud position shows this, as all positions after it depend on it anyway.
    """
    value = value.clone()
    within = max(axis - 1, 0)
    for number, item in enumerate(value.unbind() if axis else [value]):
        at = places + number % _RUN
        at = at[at < item.shape[within]]
        item.index_copy_(within, at, factor * item.index_select(within, at))
    return value


def _ending_at(places: Tensor, lengths: Tensor, draw: Draw) -> Tensor:
    """Return lengths that end between loud positions."""
    drawn = draw.lengths(*lengths.shape, most=len(places)) - 1
    return places[drawn].to(lengths.dtype)
