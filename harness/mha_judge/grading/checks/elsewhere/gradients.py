"""Gradients at the shapes of every question, and at lengths beyond blocks of 64."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from mha_judge.grading.calling.layer import Layer
from mha_judge.grading.checks.assertions import assert_gradients_match
from mha_judge.grading.checks.cases import Case
from mha_judge.grading.checks.elsewhere.asking import (
    SLACK,
    Asking,
    Finding,
    is_too_much,
    sizes_in_words,
)
from mha_judge.grading.expecting.expected import Expected, leaves
from mha_judge.grading.failures import CheckFailure

_FAR = 0.5
"""How far a gradient in half precision may be off, as a share of its size."""
_AGAIN = 2
"""How often it is asked for with other numbers, and must be far off: rounding may leave little of
one that is small beside what it is the difference of."""
_MOST_LONG = 3
"""Questions of which gradients are asked at a hundred positions, but for the last at more."""


def gradients(
    asking: Asking, by_entry: Mapping[str, Sequence[int]], case: Case, number: int
) -> Iterator[Finding]:
    """Ask for gradients of the inputs whose gradients checks ask for, by entry."""
    numbers = case.shapes.numbers()
    wrt = [index for index in by_entry.get(case.target.entry.name, ()) if index in numbers]
    if wrt and case.dtype is torch.bfloat16:
        yield Finding("in bfloat16", _cut_each_time(asking, case, wrt))
    if not wrt or case.dtype is not torch.float32:
        return
    if 1 in case.shapes.letters.values():  # gradients may cancel out, but for rounding
        return
    # a check's own numbers may be where a gradient is next to infinite, as in a norm of equals
    args = case.with_numbers({index: asking.like(value) for index, value in numbers.items()})
    yield Finding("where inputs have these shapes", _differentiated(asking, case, args, wrt))
    for least in (97, 260)[: _MOST_LONG - number]:
        letters: dict[str, int] = {}
        for equal in case.lengths:
            letters |= dict.fromkeys(equal, least + asking.draw.integer(0, 43))
        if letters:
            args = case.shapes.at(case.fitting(letters), asking.draw, leading=1)
            where = f"where {sizes_in_words(letters)}"
            failure = asking.ask(case, args)
            if failure is None:
                yield Finding(where, _differentiated(asking, case, args, wrt))
            elif not is_too_much(failure):
                yield Finding(where, failure, axis="length")


def _cut_each_time(asking: Asking, case: Case, wrt: Sequence[int]) -> CheckFailure | None:
    """Return which gradient does not arrive, whatever the numbers are."""
    failure = _cut(asking, case, wrt)
    for _ in range(_AGAIN if failure is not None else 0):
        numbers = {index: asking.like(value) for index, value in case.shapes.numbers().items()}
        failure = _cut(asking, replace(case, args=tuple(case.with_numbers(numbers))), wrt)
        if failure is None:
            return None
    return failure


def _cut(asking: Asking, case: Case, wrt: Sequence[int]) -> CheckFailure | None:
    """Return which gradient does not arrive, or is far off; half precision leaves it inexact."""
    cotangents = _cotangents(asking, case, case.args)
    if cotangents is None:
        return None
    layer = isinstance(case.target, Layer)
    try:
        rows = case.target.gradients(*case.args, wrt=wrt, cotangents=cotangents, parameters=layer)
    except CheckFailure:  # the answer itself, which is graded elsewhere
        return None
    for label, gradient, expected in rows:
        size = float(expected.exact.norm())
        if expected.is_telling and size > expected.tolerance() * expected.exact.numel() ** 0.5:
            off = size if gradient is None else float((gradient.double() - expected.exact).norm())
            if not off <= _FAR * size:
                return CheckFailure(f"the gradient of {label} is missing, or far off")
    return None


def _differentiated(
    asking: Asking, case: Case, args: Sequence[Any], wrt: Sequence[int]
) -> CheckFailure | None:
    cotangents = _cotangents(asking, case, args)
    if cotangents is None:
        return None
    layer = isinstance(case.target, Layer)
    try:
        assert_gradients_match(case.target, *args, wrt=wrt, cotangents=cotangents, parameters=layer)
    except CheckFailure as failure:
        return failure if failure.margin is None or failure.margin > SLACK else None
    return None


def _cotangents(asking: Asking, case: Case, args: Sequence[Any]) -> list[Tensor | None] | None:
    """Return a gradient of the first result; None where there is no right one of numbers."""
    try:
        outputs = [*leaves(case.target.expected(args))]
    except Exception:  # the reference refuses it: it is none of the domain
        return None
    exact = [one.exact for one in outputs if isinstance(one, Expected)]
    if any(bool(one.isnan().any()) for one in exact):
        return None
    return [asking.like(exact[0].to(case.dtype)), *[None] * (len(outputs) - 1)]
