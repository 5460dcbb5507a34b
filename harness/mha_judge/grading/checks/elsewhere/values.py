"""Values far larger and far smaller than usual, on which a result depends linearly."""

from __future__ import annotations

from collections.abc import Iterator

from mha_judge.grading.checks.cases import Case
from mha_judge.grading.checks.elsewhere.asking import Asking, Finding

_LARGEST = 1e6
"""How many times as large as usual values are that are graded, and how many times as small."""


def values(asking: Asking, case: Case, number: int) -> Iterator[Finding]:
    """Ask with values, and gradients that come with them, of other sizes than usual."""
    names = case.target.entry.arguments
    if "v" not in case.domain.shapes or case.is_half:
        return
    linear = {i: one for i, one in case.shapes.numbers().items() if names[i] not in ("q", "k")}
    for factor, size in ((_LARGEST, "large"), (1 / _LARGEST, "small")):
        scaled = {index: factor * asking.like(value) for index, value in linear.items()}
        failure = asking.ask(case, case.with_numbers(scaled))
        yield Finding(f"where values are {size}", failure)
